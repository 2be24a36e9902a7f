import { once } from 'node:events';
import { WebSocket } from 'ws';

/** How long a guest may print nothing that was asked of it, in milliseconds. */
const PATIENCE = 30_000;
/** A line of the guest's printing with its end, and how many lines make a block and blocks a portion. */
const LINE = 64;
const LINES = 64;
const BLOCKS = 16;

/**
 * A serial console whose guest prints numbered blocks from its files. What comes is compared byte by byte with what the
 * shell must print, echo and prompt included: a byte that is lost, doubled, out of its order or another guest's is an error.
 */
export class PrintingConsole {
  #socket;
  #text;
  #prompt;
  #waiting = [];
  #arrived = 0;
  bytes = 0;

  /** @param {string} url */
  static async open(url, name) {
    const console = new PrintingConsole();
    console.#text = `${name} `.padEnd(LINE - 2, 'x');
    const socket = (console.#socket = new WebSocket(url, { perMessageDeflate: false }));
    socket.on('message', (data) => {
      console.#waiting.push(data);
      console.#arrived += data.length;
      socket.emit('more');
    });
    await once(socket, 'open');
    await console.#prepare();
    return console;
  }

  /** Makes the guest print a portion of about 64 KiB, and reads it. @throws Error at the first byte that is wrong */
  async portion(number) {
    const blocks = this.#portion.map((text) => `${text}\r\n`).join('');
    await this.#run(`echo ${number}; cat portion`, `${number}\r\n${blocks}`);
  }

  async close() {
    this.#socket.terminate();
    await once(this.#socket, 'close');
  }

  /** Logs in and writes the files that are printed from. */
  async #prepare() {
    this.#type('root\r');
    await this.#until((text) => text.endsWith('Password: '));
    this.#type('any\r');
    const greeting = await this.#until((text) => /\[root@\S+ ~\]# $/.test(text));
    this.#prompt = /\[root@\S+ ~\]# $/.exec(greeting)[0];
    const numbers = this.#numbers;
    await this.#run(`echo ${this.#text} > line`, '');
    await this.#run(`cat ${Array(LINES).fill('line').join(' ')} > block`, '');
    await this.#run(numbers.map((number) => `echo ${number} > n${number}`).join('; '), '');
    await this.#run(`cat ${numbers.map((number) => `n${number} block`).join(' ')} > portion`, '');
  }

  get #numbers() {
    return Array.from({ length: BLOCKS }, (_none, index) => String(index).padStart(2, '0'));
  }

  get #portion() {
    return this.#numbers.flatMap((number) => [number, ...Array(LINES).fill(this.#text)]);
  }

  /** Types a command and expects its echo, its output and the next prompt. */
  async #run(command, output) {
    const expected = Buffer.from(`${command}\r\n${output}${this.#prompt}`);
    this.#type(`${command}\r`);
    await this.#more(() => this.#arrived >= expected.length, command);
    const printed = this.#take();
    const at = printed.equals(expected) ? -1 : printed.findIndex((byte, index) => byte !== expected[index]);
    if (!printed.equals(expected)) {
      const place = Math.max(0, at - 20);
      throw new Error(
        `after ${JSON.stringify(command.slice(0, 40))}, byte ${at} of ${expected.length} (${printed.length} came): ` +
          `${JSON.stringify(printed.subarray(place, place + 60).toString())}, not ` +
          JSON.stringify(expected.subarray(place, place + 60).toString()),
      );
    }
    this.bytes += printed.length;
  }

  async #until(right) {
    let text = '';
    await this.#more(() => right((text += this.#take().toString('latin1'))), 'the login');
    return text;
  }

  async #more(enough, what) {
    const signal = AbortSignal.timeout(PATIENCE);
    while (!enough()) {
      await once(this.#socket, 'more', { signal }).catch((error) => {
        throw new Error(`the console fell silent at ${JSON.stringify(what.slice(0, 40))}`, { cause: error });
      });
    }
  }

  #take() {
    const printed = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#arrived = 0;
    return printed;
  }

  #type(text) {
    this.#socket.send(Buffer.from(text), { binary: true });
  }
}
