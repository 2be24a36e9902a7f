import { Duplex } from 'node:stream';

/** A console that greets and then sends back what it is sent. */
export class MemoryConsole extends Duplex {
  constructor(greeting: string) {
    super();
    this.push(Buffer.from(greeting));
  }

  override _read(): void {}

  override _write(data: Buffer, _encoding: string, done: () => void): void {
    this.push(data);
    done();
  }
}
