import 'reflect-metadata';
import { away, Edge } from '../testing/edge.js';

const MAX_ATTEMPTS = 1000;

describe('GET /metrics', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
  });

  afterEach(() => edge.close());

  test('exposes every instance with the option, and a lost context at once', async () => {
    await edge.reopen({}, ['--metrics']);
    const metrics = async (): Promise<string> => (await edge.send('GET', '/metrics')).body;
    const until = async (pattern: RegExp): Promise<string> => {
      let text = '';
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        text = await metrics();
        if (pattern.test(text)) return text;
      }
      throw new Error(`${pattern} did not appear in: ${text}`);
    };
    const text = await until(/^svc_collection_success 1$/m);
    for (const line of [
      'svc_backend_up{context="lab",backend="memory"} 1',
      'svc_instance_info{name="db",kind="vm",backend="memory",context="lab",namespace="default",pool="",node="memory-1",template="false"} 1',
      'svc_instance_running{name="db",kind="vm",backend="memory",context="lab",namespace="default",pool=""} 1',
      'svc_instance_running{name="web",kind="vm",backend="memory",context="lab",namespace="default",pool=""} 0',
      'svc_instance_memory_bytes{name="web",kind="vm",backend="memory",context="lab",namespace="default",pool=""} 4294967296',
      'svc_instance_cpu_cores{name="box",kind="ct",backend="memory",context="lab",namespace="default",pool=""} 1',
      'svc_instances{backend="memory",context="lab",state="Stopped"} 2',
    ]) {
      expect(text.split('\n')).toContain(line);
    }
    expect(text).toMatch(/^svc_collection_age_seconds [\d.]+$/m);
    expect(text).toMatch(/^process_resident_memory_bytes \d+/m);
    edge.lab.engine.disconnect(away);
    await until(/^svc_backend_up\{context="lab",backend="memory"\} 0$/m);
  });

  test('answers without the option, and marks an answer as partial while a context is lost', async () => {
    expect((await edge.send('GET', '/metrics')).body).toMatch(/^svc_collection_success 0$/m);
    edge.lab.engine.disconnect(away);
    const nodes = await edge.send('GET', '/api/nodes');
    expect([nodes.status, nodes.headers['svc-partial']]).toEqual([200, 'true']);
  });
});
