// How pages talk to the server: JSON over HTTP, and one WebSocket for what thinks.

/** GET; throws an Error with the server's sentence. */
export function get(path) {
  return ask(path, {});
}

/** POST of a JSON body; throws an Error with the server's sentence. */
export function post(path, body) {
  return ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    server.look();
    throw new Error("The server does not answer. Is tengen serve still running?");
  }
  server.found(true);
  const answer = await response.json().catch(() => null);
  if (response.ok && answer !== null) return answer;
  const problem = new Error(sentence(answer) ?? `The server answered ${response.status} to ${path}.`);
  problem.status = response.status;
  throw problem;
}

function sentence(answer) {
  if (typeof answer?.error === "string") return answer.error;
  if (typeof answer?.detail === "string") return answer.detail;
  return Array.isArray(answer?.detail) ? answer.detail.map((part) => part.msg).join("; ") : null;
}

const FIRST_WAIT = 500; // milliseconds before the first try to connect again
const LONGEST_WAIT = 8000;

/** Whether the server can be reached. It is looked for when something went wrong, and then until it is back. */
class Server {
  constructor() {
    this.isThere = true;
    this.isLooking = false;
    this.watcher = () => {};
  }

  /** `watcher(isThere)` is called whenever the server goes or comes back. */
  watch(watcher) {
    this.watcher = watcher;
  }

  found(isThere) {
    if (isThere === this.isThere) return;
    this.isThere = isThere;
    this.watcher(isThere);
  }

  /** Asks for something small until there is an answer, whatever it is. */
  async look() {
    if (this.isLooking) return;
    this.isLooking = true;
    let wait = FIRST_WAIT;
    while (!(await this.answers())) {
      this.found(false);
      await new Promise((resolve) => setTimeout(resolve, wait));
      wait = Math.min(2 * wait, LONGEST_WAIT);
    }
    this.isLooking = false;
    this.found(true);
  }

  answers() {
    return fetch("icon.svg", { method: "HEAD", cache: "no-store" }).then(() => true, () => false);
  }
}

export const server = new Server();

const ENDS = new Set(["move", "done", "error", "view"]); // after these, nothing more comes for an id

/** The page's WebSocket. It opens when it is first needed, and again when it was lost. */
class Socket {
  constructor(path) {
    this.path = path;
    this.number = 0;
    this.waiting = new Map(); // id -> who is told
    this.unsent = []; // what waits for the connection
    this.wait = FIRST_WAIT;
    this.connection = null;
    this.watchers = new Set();
  }

  /** Sends a message; `onAnswer` is told every answer to it. Returns its id, by which it can be stopped. */
  send(message, onAnswer = () => {}) {
    const id = `p${++this.number}`;
    this.waiting.set(id, onAnswer);
    this.post({ ...message, id });
    return id;
  }

  /** Sends a message and resolves with the answer that ends it; rejects with the server's sentence. */
  ask(message, onProgress = () => {}) {
    return new Promise((resolve, reject) => {
      this.send(message, (answer) => {
        if (answer.type === "error") reject(new Error(answer.error));
        else if (ENDS.has(answer.type)) resolve(answer);
        else onProgress(answer);
      });
    });
  }

  /** Asks the server to end what `id` began: it answers with its best, or that it is done. */
  stop(id) {
    if (this.waiting.has(id)) this.post({ type: "stop", of: id, id: `p${++this.number}` });
  }

  /** Ends what `id` began, and hears no more of it. */
  forget(id) {
    if (!this.waiting.has(id)) return;
    this.stop(id);
    this.waiting.delete(id);
  }

  /** `watcher(isOpen)` is called whenever the connection comes or goes. Returns a function that ends this. */
  watch(watcher) {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  post(message) {
    if (this.connection?.readyState === WebSocket.OPEN) {
      this.connection.send(JSON.stringify(message));
      return;
    }
    this.unsent.push(message);
    if (!this.connection) this.open();
  }

  open() {
    const url = new URL(this.path, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    url.hash = "";
    this.connection = new WebSocket(url);
    this.connection.addEventListener("open", () => this.opened());
    this.connection.addEventListener("message", (event) => this.heard(event.data));
    this.connection.addEventListener("close", () => this.closed());
  }

  opened() {
    this.wait = FIRST_WAIT;
    for (const message of this.unsent.splice(0)) this.connection.send(JSON.stringify(message));
    for (const watcher of this.watchers) watcher(true);
  }

  heard(text) {
    const answer = JSON.parse(text);
    const listener = this.waiting.get(answer.id);
    if (ENDS.has(answer.type)) this.waiting.delete(answer.id);
    listener?.(answer);
  }

  /** What was asked is lost with the connection: whoever asked is told, and may ask again. */
  closed() {
    this.connection = null;
    server.look();
    this.unsent = [];
    const listeners = [...this.waiting];
    this.waiting.clear();
    const lost = { type: "error", error: "The connection was lost.", lost: true };
    for (const [id, listener] of listeners) listener({ ...lost, id });
    for (const watcher of this.watchers) watcher(false);
    setTimeout(() => !this.connection && this.watchers.size > 0 && this.open(), this.wait);
    this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
  }
}

export const socket = new Socket("api/socket");
