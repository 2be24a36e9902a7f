import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KubeSandbox } from '@headgate/kube-sandbox';
import { describeOnRealApiServer, RealApiServer } from '@headgate/testing';
import { ApiServer } from './api-server.js';
import { differences, report } from './differences.js';
import { runScenarios } from './run-scenarios.js';
import { loadScenarios } from './scenario.js';

const FOLDER = join(import.meta.dirname, '../../../kube-sandbox/compare');
const TIMEOUT_MS = 180_000;

interface Known {
  readonly reason: string;
  /** The fields that differ, by their request. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
}

describeOnRealApiServer('the API server of the sandbox', () => {
  let real: RealApiServer;
  let sandbox: KubeSandbox;
  beforeAll(async () => {
    real = await RealApiServer.start();
    sandbox = await KubeSandbox.listen();
  }, TIMEOUT_MS);
  afterAll(async () => {
    await sandbox.close();
    await real.close();
  });

  /** Gives each new namespace its service account, as kube-controller-manager does. */
  const withAccounts = (server: ApiServer): Pick<ApiServer, 'send'> => ({
    send: async (method, path, body, headers) => {
      const answer = await server.send(method, path, body, headers);
      if (method === 'POST' && path === '/api/v1/namespaces' && answer.status === 201) {
        const { metadata } = JSON.parse(answer.text) as { metadata: { name: string } };
        await real.create(`${path}/${metadata.name}/serviceaccounts`, { metadata: { name: 'default' } });
      }
      return answer;
    },
  });

  test(
    'answers as a real one, but for the listed differences',
    async () => {
      const scenarios = loadScenarios([FOLDER]);
      const expected = await runScenarios(withAccounts(ApiServer.fromText(real.kubeconfig())), scenarios);
      const actual = await runScenarios(ApiServer.fromText(sandbox.kubeconfig()), scenarios);
      const found = differences(expected, actual);
      const known = JSON.parse(readFileSync(join(FOLDER, 'known/differences.json'), 'utf8')) as Known[];
      const listed = new Set(
        known.flatMap(({ fields }) =>
          Object.entries(fields).flatMap(([request, names]) => names.map((name) => `${request} ${name}`)),
        ),
      );
      const unknown = found.filter(({ request, field }) => !listed.delete(`${request} ${field}`));
      expect(report(unknown, { expected: 'real', actual: 'sandbox' })).toEqual([]);
      // The list can only shrink: a difference that is gone leaves it.
      expect([...listed]).toEqual([]);
      expect(expected.length).toBeGreaterThan(150);
    },
    TIMEOUT_MS,
  );
});
