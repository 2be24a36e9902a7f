import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { PLUGIN_API_VERSION, type PluginAbility } from '../plugin-sdk.js';

/** A request, with the expectations of its response. */
export interface ExpectedCall {
  readonly method: string;
  readonly params: unknown;
  readonly expect?: (result: unknown) => void;
  readonly expectError?: (error: string) => void;
}

export interface PluginUnderTest {
  /** The program that runs it, with its arguments. */
  readonly command: readonly [program: string, ...args: string[]];
  /** From its manifest. */
  readonly name: string;
  readonly version: string;
  readonly ability: PluginAbility;
  readonly calls: readonly ExpectedCall[];
}

interface Response {
  readonly id: number | null;
  readonly result?: unknown;
  readonly error?: string;
}

/** A connection to the process of a plugin. Every line that it writes must be a response. */
class Connection {
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly responses: Response[] = [];
  private readonly waiting = new Set<() => void>();
  private lastId = 0;

  constructor([program, ...args]: PluginUnderTest['command']) {
    this.child = spawn(program, args, { env: {}, stdio: 'pipe' });
    this.child.stderr.resume();
    let rest = '';
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = `${rest}${text}`.split('\n');
      rest = lines.pop() ?? '';
      this.responses.push(...lines.map((line) => JSON.parse(line) as Response));
      for (const wake of this.waiting) wake();
    });
  }

  send(line: string): void {
    this.child.stdin.write(`${line}\n`);
  }

  request(method: string, params: unknown): Promise<Response> {
    const id = ++this.lastId;
    this.send(JSON.stringify({ id, method, params }));
    return this.response((response) => response.id === id);
  }

  async response(isExpected: (response: Response) => boolean): Promise<Response> {
    for (;;) {
      const found = this.responses.findIndex(isExpected);
      if (found >= 0) return this.responses.splice(found, 1)[0] as Response;
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.waiting.delete(wake);
          resolve();
        };
        this.waiting.add(wake);
      });
    }
  }

  /** Responses that no request was waiting for. */
  get surplus(): readonly Response[] {
    return this.responses;
  }

  async endInput(): Promise<number | null> {
    const exited = once(this.child, 'close') as Promise<[number | null]>;
    this.child.stdin.end();
    return (await exited)[0];
  }

  close(): void {
    this.child.kill('SIGKILL');
  }
}

/** The rules that every plugin follows, over its real process. */
export function pluginContract(title: string, describePlugin: () => PluginUnderTest): void {
  describe(`a plugin: ${title}`, () => {
    let plugin: PluginUnderTest;
    let connection: Connection;

    beforeEach(() => {
      plugin = describePlugin();
      connection = new Connection(plugin.command);
    });
    afterEach(() => connection.close());

    test('describes itself as its manifest does', async () => {
      const { name, version, ability } = plugin;
      expect((await connection.request('describe', {})).result).toEqual({
        name,
        version,
        ability,
        apiVersion: PLUGIN_API_VERSION,
      });
    });

    test('answers the calls of its ability, also many at the same time', async () => {
      expect(plugin.calls.length).toBeGreaterThan(0);
      const rounds = Array.from({ length: 20 }, () => plugin.calls).flat();
      const responses = await Promise.all(rounds.map(({ method, params }) => connection.request(method, params)));
      for (const [position, { result, error }] of responses.entries()) {
        const call = rounds[position];
        if (call?.expectError) call.expectError(error ?? '');
        else expect(error).toBeUndefined();
        call?.expect?.(result);
      }
      expect(connection.surplus).toEqual([]);
    });

    test('refuses an unknown method and a line that is not JSON, and continues to serve', async () => {
      expect((await connection.request('nonsense', {})).error).toContain('nonsense');
      connection.send('{"id":');
      expect((await connection.response(({ id }) => id === null)).error).toEqual(expect.any(String));
      expect((await connection.request('describe', null)).result).toMatchObject({ name: plugin.name });
    });

    test('exits when its input ends', async () => {
      await connection.request('describe', {});
      expect(await connection.endInput()).toBe(0);
    });
  });
}
