"""KataGo's JSON analysis protocol on stdin and stdout: `tengen analysis`."""
