"""The AlphaGo way on 9×9 Go: a policy from records, made stronger by playing itself, and a value of its games."""
