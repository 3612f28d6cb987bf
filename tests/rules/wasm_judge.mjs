// Plays in WebAssembly what test_wasm.py plays on a CPU: node wasm_judge.mjs KERNELS.js FOLDER PLAYOUTS UCT DEPTH SEED
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [script, folder, playouts, simulations, depth, seed] = process.argv.slice(2);
const { Kernels } = await import(pathToFileURL(script));
const read = (name) => readFileSync(`${folder}/${name}`);
const contents = JSON.parse(read("module.json"));
const { parameters, actions: count } = JSON.parse(read("game.json"));
const kernels = await Kernels.load(new WebAssembly.Module(read("module.wasm")), contents);
const { roll_out, run } = contents.functions;
const [state, node] = [roll_out.arguments[1].array, run.arguments[4].array];

const root = kernels.array(state, [1]);
root.view.set(read("root.bin"));
const [scratch, actions, results] = [kernels.array(state, [1]), kernels.array("int32", [count]), kernels.array("int64", [4])];
kernels.call("roll_out", parameters, root, scratch, actions, playouts, seed, results);

const path = [kernels.array(state, [+depth]), kernels.array("int32", [+depth, count]), kernels.array("int64", [+depth])];
path[0].view.set(read("root.bin"));
const leaves = kernels.call("count_paths", parameters, ...path, kernels.array("int64", [+depth]), depth);

const [tree, sizes, line] = [kernels.array(node, [+simulations + 1]), kernels.array("int64", [1]), kernels.array("int32", [1024])];
const first = kernels.call("new_tree", parameters, root, tree, sizes, seed);
const [done, next] = kernels.call("run", parameters, root, scratch, actions, tree, sizes, line, simulations, first, 1.0);
const nodes = tree.part(0, Number(sizes.view[0]));
console.log(
  JSON.stringify({
    results: [...results.view].map(Number),
    leaves,
    done,
    next: String(next),
    tree: createHash("sha256").update(nodes.view).digest("hex"),
    visits: nodes.get(0, "visits"),
    imports: WebAssembly.Module.imports(new WebAssembly.Module(read("module.wasm"))).map(({ name }) => name),
  }),
);
