"""Nets as ONNX files, with their metadata inside.

A net is exported every few seconds of its training. Ours have ten kinds of layers: they are written down here, in the
order in which torch.fx finds them. torch's own exporter takes a second and more, and does the rest: networks of yours.
"""

from __future__ import annotations

import logging
import operator
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import fx, nn

from tengen.nets.layers import ConvolutionalNetwork, folded, without_targets
from tengen.nets.metadata import NetMetadata
from tengen.rules.errors import BadParameter

OPSET = 12  # the last in which the axes of Squeeze are an attribute
TORCH_OPSET = 18  # what torch writes without converting
HALF = ".half"  # ends the names of weights that are kept as float16
IR_VERSION = 8  # what runtimes of the last years read, browsers too

LAYERS: dict[type[nn.Module], Callable[[Any], tuple[str, dict[str, Any]]]] = {
    nn.Conv2d: lambda layer: ("Conv", {"kernel_shape": layer.kernel_size, "pads": [*layer.padding, *layer.padding]}),
    nn.Linear: lambda layer: ("Gemm", {"transB": 1}),
    nn.Flatten: lambda layer: ("Flatten", {"axis": layer.start_dim}),
    nn.AdaptiveAvgPool2d: lambda layer: ("GlobalAveragePool", {}),
    nn.AdaptiveMaxPool2d: lambda layer: ("GlobalMaxPool", {}),
    nn.Identity: lambda layer: ("Identity", {}),
    nn.ReLU: lambda layer: ("Relu", {}),
    nn.Tanh: lambda layer: ("Tanh", {}),
}
FUNCTIONS: dict[Any, tuple[str, dict[str, Any]]] = {
    operator.add: ("Add", {}),
    torch.cat: ("Concat", {"axis": 1}),
    torch.squeeze: ("Squeeze", {"axes": [1]}),
}


def export_onnx(model: nn.Module, metadata: NetMetadata) -> bytes:
    """The ONNX file of a model: `planes` [batch, planes, rows, columns] to `logits` [batch, actions], `values` [batch].

    The model itself is left as it is. It answers as in torch's evaluation mode, up to rounding.
    """
    playing = without_targets(folded(model)).float().cpu()
    if not isinstance(playing, ConvolutionalNetwork):
        return exported_by_torch(playing, metadata)
    steps = fx.symbolic_trace(playing).graph.nodes
    nodes, weights = operators(playing, steps, output_names(steps))
    planes = tensor("planes", len(metadata.planes), *metadata.shape)
    return finished(nodes, weights, planes, [tensor("logits", metadata.actions), tensor("values")], metadata.texts())


def exported_by_torch(playing: nn.Module, metadata: NetMetadata) -> bytes:
    """The ONNX file of any network that torch's exporter can follow."""
    for name in ("torch.onnx", "onnxscript"):
        logging.getLogger(name).setLevel(logging.ERROR)  # they tell of packages that nobody needs here
    example = torch.zeros(2, len(metadata.planes), *metadata.shape)
    batch = ({0: torch.export.Dim("batch")},)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torch.onnx.export(
                playing,
                (example,),
                input_names=["planes"],
                output_names=["logits", "values"],
                dynamic_shapes=batch,
                opset_version=TORCH_OPSET,
                external_data=False,
                verbose=False,
            )
    except ModuleNotFoundError as reason:
        raise BadParameter(
            f"a network of this kind needs {reason.name} to be played: pip install 'tengen[train]'"
        ) from reason
    except Exception as reason:  # whatever the network's code does
        said = str(reason).strip().splitlines() or [""]
        raise BadParameter(
            f"{metadata.architecture.kind} cannot be exported to ONNX, which is how nets are played: {said[0]}"
        ) from reason
    model = program.model_proto  # type: ignore[union-attr]
    bare(model, metadata)
    return model.SerializeToString()


def bare(model: onnx.ModelProto, metadata: NetMetadata) -> None:
    """Removes torch's notes, which name folders of this machine; adds the net's metadata."""
    for part in (*model.graph.node, *model.graph.input, *model.graph.output, *model.graph.initializer):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")
    for owner, field in ((model.graph, "metadata_props"), (model.graph, "value_info"), (model.graph, "doc_string")):
        owner.ClearField(field)
    model.ClearField("metadata_props")
    model.producer_name, model.producer_version = "tengen", ""
    helper.set_model_props(model, metadata.texts())


def operators(
    playing: nn.Module, steps: Any, names: Mapping[fx.Node, str]
) -> tuple[list[onnx.NodeProto], list[onnx.TensorProto]]:
    """The ONNX nodes for the steps of the network `playing`, and its weights; `names` are the names of its answers."""
    layers, nodes, weights = dict(playing.named_modules()), [], []
    for step in steps:
        if step.op in ("placeholder", "output"):
            continue
        kind, attributes = translation(step, layers)
        inputs = [names.get(given, given.name) for given in step.all_input_nodes]
        for name, weight in own_weights(step, layers):
            weights.append(numpy_helper.from_array(weight.detach().numpy(), name))
            inputs.append(name)
        nodes.append(helper.make_node(kind, inputs, [names.get(step, step.name)], **attributes))
    return nodes, weights


def output_names(steps: Any) -> dict[fx.Node, str]:
    """The names of the two steps that are the model's answers."""
    (answers,) = next(step for step in steps if step.op == "output").args
    return dict(zip(answers, ("logits", "values"), strict=True))


def translation(step: fx.Node, layers: dict[str, nn.Module]) -> tuple[str, dict[str, Any]]:
    """The ONNX operator of a step, and its attributes."""
    if step.op == "call_module" and type(layers[str(step.target)]) in LAYERS:
        layer = layers[str(step.target)]
        return LAYERS[type(layer)](layer)
    if step.op == "call_function" and step.target in FUNCTIONS:
        return FUNCTIONS[step.target]
    raise NotImplementedError(f"{step.op} of {step.target}: say in {__name__} how to export it")


def own_weights(step: fx.Node, layers: dict[str, nn.Module]) -> Iterator[tuple[str, torch.Tensor]]:
    """A layer's parameters in the order in which ONNX takes them: weights, then the bias if there is one."""
    if step.op == "call_module":
        for name, weight in layers[str(step.target)].named_parameters():
            yield f"{step.target}.{name}", weight


def tensor(name: str, *shape: int) -> onnx.ValueInfoProto:
    """An input or an output of the net: floats [batch, *shape]."""
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", *shape])


def finished(
    nodes: list[onnx.NodeProto],
    weights: list[onnx.TensorProto],
    planes: onnx.ValueInfoProto,
    answers: list[onnx.ValueInfoProto],
    metadata: dict[str, str],
) -> bytes:
    """The ONNX file of a graph with its metadata."""
    graph = helper.make_graph(nodes, "net", [planes], answers, weights)
    opset = helper.make_opsetid("", OPSET)
    model = helper.make_model(graph, producer_name="tengen", ir_version=IR_VERSION, opset_imports=[opset])
    helper.set_model_props(model, metadata)
    content: bytes = model.SerializeToString()
    return content


def weights_of(net: onnx.ModelProto) -> dict[str, torch.Tensor]:
    """The weights of a net, by the names that they have in the folded model."""
    arrays = {weight.name.removesuffix(HALF): numpy_helper.to_array(weight) for weight in net.graph.initializer}
    return {name: torch.from_numpy(array.astype(np.float32)) for name, array in arrays.items()}


def halved(content: bytes) -> bytes:
    """The net `content` in about half the bytes: large weights are float16 in the file and float32 once loaded."""
    model = onnx.load_from_string(content)
    nodes = []
    for weight in model.graph.initializer:
        array = numpy_helper.to_array(weight)
        if array.dtype == np.float32 and array.ndim > 1:
            name = f"{weight.name}{HALF}"
            nodes.append(helper.make_node("Cast", [name], [weight.name], to=TensorProto.FLOAT))
            weight.CopyFrom(numpy_helper.from_array(array.astype(np.float16), name))
    nodes += list(model.graph.node)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model.SerializeToString()
