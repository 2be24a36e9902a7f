import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { PackedProject } from './packed-project.js';

/** A response of an example. */
export interface ExampleResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: object;
}

export type Call = (method: string, path: string, body?: object) => Promise<ExampleResponse>;

/** Compiles the README's example with this index as an ES module, runs it, and calls back with a client. */
export async function runExample(
  project: PackedProject,
  index: number,
  use: (call: Call) => Promise<void>,
): Promise<void> {
  const readme = project.read('node_modules/@headgate/limits-nest/README.md');
  const example = [...readme.matchAll(/```ts\n(.*?)```/gs)][index]?.[1];
  if (example === undefined) throw new Error(`The README has no example ${index}.`);
  project.write('package.json', { name: 'consumer', private: true, type: 'module' });
  project.write('main.ts', example);
  const messages = project.compile('main.ts', { module: 'nodenext' });
  if (messages !== '') throw new Error(messages);
  const env = { ...process.env, NODE_OPTIONS: '', PORT: '0', NO_COLOR: '1' };
  const program = spawn(process.execPath, ['built/main.js'], { cwd: project.folder, env });
  const exited = once(program, 'exit');
  try {
    await use(await client(program.stdout));
  } finally {
    program.kill();
    await exited;
  }
}

/** A client for the program, at the address that it prints. */
async function client(output: NodeJS.ReadableStream): Promise<Call> {
  let printed = '';
  let url: string | undefined;
  for await (const chunk of output) {
    printed += String(chunk);
    url = /^http:\S+$/m.exec(printed)?.[0];
    if (url) break;
  }
  if (!url) throw new Error(`The program exited without printing an address: ${printed}`);
  return async (method, path, body) => {
    const headers = { 'content-type': 'application/json', authorization: 'Bearer token-of-nora' };
    const target = new URL(path, `${url}/_matrix/client/v3/`);
    const response = await fetch(target, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    const text = await response.text();
    const json = text.startsWith('{') ? (JSON.parse(text) as object) : {};
    return { status: response.status, headers: response.headers, text, body: json };
  };
}

/** The migration example: its requests, and the results that @nestjs/throttler would give too. */
export const MIGRATED = {
  try: async (call: Call) => {
    const statuses = async (method: string, path: string, times: number) => {
      const found = [];
      for (let i = 0; i < times; i++) found.push((await call(method, path)).status);
      return found;
    };
    const { headers } = await call('GET', '/cats');
    const created = await statuses('POST', '/cats', 4);
    const refusal = await call('POST', '/cats');
    return {
      quota: headers.get('ratelimit'),
      created,
      refusal: refusal.body,
      retryAfter: Number(refusal.headers.get('retry-after')) > 0,
      listed: (await statuses('GET', '/cats', 10)).filter((status) => status === 200).length,
      health: new Set(await statuses('GET', '/health', 20)).size,
    };
  },
  expected: {
    quota: '"default";r=9;t=60',
    created: [201, 201, 201, 429],
    refusal: { statusCode: 429, error: 'Too Many Requests', message: expect.stringContaining('try again in') },
    retryAfter: true,
    listed: 9,
    health: 1,
  },
};
