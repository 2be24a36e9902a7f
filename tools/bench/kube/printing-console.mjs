import { once } from 'node:events';
import { WebSocket } from 'ws';

/** Maximum time without expected output. */
const TIMEOUT_MS = 30_000;
/** Bytes per output line including its end, lines per block, and blocks per portion. */
const LINE = 64;
const LINES = 64;
const BLOCKS = 16;

/**
 * A serial console whose guest prints numbered blocks from its files. The output is compared byte by byte with the
 * expected one, including echo and prompt: any byte that is lost, repeated, out of order or from another guest is an
 * error.
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

  /** Makes the guest print a portion of about 64 KiB, and reads it. @throws Error at the first wrong byte */
  async portion(number) {
    const blocks = this.#portion.map((text) => `${text}\r\n`).join('');
    await this.#run(`echo ${number}; cat portion`, `${number}\r\n${blocks}`);
  }

  async close() {
    this.#socket.terminate();
    await once(this.#socket, 'close');
  }

  /** Logs in and creates the files to print. */
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
        `after ${JSON.stringify(command.slice(0, 40))}, byte ${at} of ${expected.length} (${printed.length} received): ` +
          `${JSON.stringify(printed.subarray(place, place + 60).toString())}, not ` +
          JSON.stringify(expected.subarray(place, place + 60).toString()),
      );
    }
    this.bytes += printed.length;
  }

  async #until(isComplete) {
    let text = '';
    await this.#more(() => isComplete((text += this.#take().toString('latin1'))), 'the login');
    return text;
  }

  async #more(isEnough, step) {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    while (!isEnough()) {
      await once(this.#socket, 'more', { signal }).catch((error) => {
        throw new Error(`the console sent no output at ${JSON.stringify(step.slice(0, 40))}`, { cause: error });
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
