// A game's kernels in WebAssembly: memory for their arrays, and calls as their table of contents says.
const PAGE = 65536;
const ALIGNMENT = 64;
const VIEWS = {
  bool: Uint8Array,
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
  float32: Float32Array,
  float64: Float64Array,
};
const READERS = {
  bool: "getUint8",
  int8: "getInt8",
  uint8: "getUint8",
  int16: "getInt16",
  uint16: "getUint16",
  int32: "getInt32",
  uint32: "getUint32",
  int64: "getBigInt64",
  uint64: "getBigUint64",
  float32: "getFloat32",
  float64: "getFloat64",
};

/** An array in the memory of a module; `kind` is the name of its elements' type. */
class KernelArray {
  constructor(kernels, kind, shape, place) {
    const size = kernels.sizeOf(kind);
    const count = shape.reduce((product, length) => product * length, 1);
    Object.assign(this, { kernels, kind, shape, place, size, count });
  }

  /** Its numbers, or its bytes if they are records; good until the memory grows. */
  get view() {
    const [View, each] = this.kind in VIEWS ? [VIEWS[this.kind], 1] : [Uint8Array, this.size];
    return new View(this.kernels.memory.buffer, this.place, this.count * each);
  }

  /** As many of its elements, from the first or another on: an array of one dimension in the same memory. */
  part(begin, count) {
    return new KernelArray(this.kernels, this.kind, [count], this.place + begin * this.size);
  }

  /** A field of a record: a number, or where it has several, an array in the same memory. */
  get(index, name) {
    const { offset, kind, shape } = this.kernels.contents.records[this.kind].fields[name];
    const place = this.place + index * this.size + offset;
    if (shape.length) return new KernelArray(this.kernels, kind, shape, place);
    return new DataView(this.kernels.memory.buffer)[READERS[kind]](place, true);
  }

  /** Sets a field that is one number. */
  set(index, name, value) {
    const { offset, kind } = this.kernels.contents.records[this.kind].fields[name];
    const write = READERS[kind].replace("get", "set");
    new DataView(this.kernels.memory.buffer)[write](this.place + index * this.size + offset, value, true);
  }

  /** What Numba hands a kernel of an array: no owner, how many, how large each, where; lengths and steps. */
  get arguments() {
    const strides = [];
    let step = this.size;
    for (const length of [...this.shape].reverse()) {
      strides.unshift(BigInt(step));
      step *= length;
    }
    return [0, 0, BigInt(this.count), BigInt(this.size), this.place, ...this.shape.map(BigInt), ...strides];
  }
}

export class Kernels {
  /** A module, compiled, with its table of contents. */
  static async load(module, contents) {
    const { exports } = await WebAssembly.instantiate(module, { env: { log: Math.log } });
    return new Kernels(exports, contents);
  }

  constructor(exports, contents) {
    Object.assign(this, { memory: exports.memory, exports, contents });
    this.end = exports.__heap_base.value;
    this.answer = this.array("uint64", [8]);
    this.trouble = this.array("uint64", [8]);
  }

  sizeOf(kind) {
    return VIEWS[kind]?.BYTES_PER_ELEMENT ?? this.contents.records[kind].size;
  }

  /** A new array of zeros. It is never given back: a worker that is done with a search ends. */
  array(kind, shape) {
    const count = shape.reduce((product, length) => product * length, 1);
    const place = Math.ceil(this.end / ALIGNMENT) * ALIGNMENT;
    this.end = place + count * this.sizeOf(kind);
    const missing = this.end - this.memory.buffer.byteLength;
    if (missing > 0) this.memory.grow(Math.ceil(missing / PAGE));
    return new KernelArray(this, kind, shape, place);
  }

  /** Calls an entry point: arrays, numbers and tuples of these; returns its number, or a list of them. */
  call(name, ...values) {
    const { symbol, arguments: kinds, result } = this.contents.functions[name];
    const flat = kinds.flatMap((kind, i) => this.flattened(kind, values[i]));
    const status = this.exports[symbol](this.answer.place, this.trouble.place, ...flat);
    if (status) throw new Error(`${name} ended with ${status}`);
    return this.results(result);
  }

  /** A value as the machine takes it. */
  flattened(kind, value) {
    if (Array.isArray(kind)) return kind.flatMap((part, i) => this.flattened(part, value[i]));
    if (typeof kind === "object") return value.arguments;
    return kind.endsWith("int64") ? [BigInt(value)] : [Number(value)];
  }

  results(kinds) {
    const view = new DataView(this.memory.buffer);
    let place = this.answer.place;
    const numbers = kinds.map((kind) => {
      const size = VIEWS[kind].BYTES_PER_ELEMENT;
      place = Math.ceil(place / size) * size;
      const found = view[READERS[kind]](place, true);
      place += size;
      return kind === "int64" ? Number(found) : found;
    });
    return kinds.length === 1 ? numbers[0] : numbers;
  }
}
