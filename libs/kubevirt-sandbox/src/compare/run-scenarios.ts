import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, keptHeaders, normalizedBody, valueAt } from './answer.js';
import type { ApiServer, RawAnswer } from './api-server.js';
import type { Json, Scenario, Step } from './scenario.js';

const POLL_MS = 250;
const DEFAULT_WAIT_SECONDS = 120;
const PATCHES: Readonly<Record<string, string>> = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};
const PATHS: Readonly<Record<string, string>> = {
  VMS: '/apis/kubevirt.io/v1/namespaces/{ns}/virtualmachines',
  VMIS: '/apis/kubevirt.io/v1/namespaces/{ns}/virtualmachineinstances',
  SUB: '/apis/subresources.kubevirt.io/v1/namespaces/{ns}',
  DVS: '/apis/cdi.kubevirt.io/v1beta1/namespaces/{ns}/datavolumes',
  NS: '/api/v1/namespaces/{ns}',
};

/** Runs the scenarios one after another, each in a new namespace that is deleted afterwards. */
export async function runScenarios(
  server: Pick<ApiServer, 'send'>,
  scenarios: readonly Scenario[],
  onProgress: (name: string) => void = () => undefined,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const scenario of scenarios) {
    onProgress(scenario.name);
    if (await lacksGroup(server, scenario.needs)) {
      answers.push({ request: `${scenario.name}: skipped, the cluster lacks an API group`, status: 0 });
    } else answers.push(...(await new ScenarioRun(server, scenario).run()));
  }
  return answers;
}

async function lacksGroup(server: Pick<ApiServer, 'send'>, groups: readonly string[] = []): Promise<boolean> {
  for (const group of groups) if ((await server.send('GET', `/apis/${group}`)).status !== 200) return true;
  return false;
}

class ScenarioRun {
  private readonly namespace = `compare-${randomBytes(4).toString('hex')}`;
  private readonly saved = new Map<string, string>();

  constructor(
    private readonly server: Pick<ApiServer, 'send'>,
    private readonly scenario: Scenario,
  ) {
    this.saved.set('ns', this.namespace);
  }

  async run(): Promise<Answer[]> {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: this.namespace } };
    const created = await this.post('/api/v1/namespaces', namespace);
    if (created.status !== 201) throw new Error(`namespace ${this.namespace} was not created: ${created.text}`);
    try {
      const answers: Answer[] = [];
      for (const [index, step] of this.scenario.steps.entries()) answers.push(...(await this.step(step, index + 1)));
      return answers;
    } finally {
      await this.server.send('DELETE', `/api/v1/namespaces/${this.namespace}`);
    }
  }

  private post(path: string, body: object): Promise<RawAnswer> {
    return this.server.send('POST', path, JSON.stringify(body), { 'Content-Type': 'application/json' });
  }

  private async step(step: Step, number: number): Promise<Answer[]> {
    const all = step.parallel ?? Array.from({ length: step.times ?? 1 }, () => step);
    const answers = await Promise.all(all.map((each) => this.one(each, number)));
    if (all.length === 1) return answers;
    // The order of answers to concurrent requests is not defined.
    return answers
      .map((answer) => ({ ...answer, key: `${answer.status} ${JSON.stringify(answer.body)}` }))
      .sort((a, b) => (a.key < b.key ? -1 : 1))
      .map(({ key: _key, ...answer }, index) => ({ ...answer, request: `${answer.request} (${index + 1})` }));
  }

  private async one(step: Step, number: number): Promise<Answer> {
    const raw = step.until ? await this.poll(step) : await this.send(step);
    for (const [name, field] of Object.entries(step.save ?? {})) {
      this.saved.set(name, String(valueAt(parsed(raw.text), field) ?? ''));
    }
    const headers = keptHeaders(raw.headers);
    const body = normalizedBody(raw.text, this.namespace, step.only);
    return {
      request: `${this.scenario.name} ${number}: ${step.method} ${step.path}`,
      status: raw.status,
      ...(Object.keys(headers).length > 0 ? { headers } : {}),
      ...(body === undefined ? {} : { body }),
    };
  }

  private send({ method, path, body, type, headers = {} }: Step): Promise<RawAnswer> {
    const [first = '', ...rest] = path.split('/');
    const full = this.filled([PATHS[first] ?? first, ...rest].join('/'));
    const text = body === undefined ? undefined : this.filled(typeof body === 'string' ? body : JSON.stringify(body));
    const media = type === undefined ? 'application/json' : (PATCHES[type] ?? type);
    return this.server.send(method, full, text, {
      ...(text === undefined ? {} : { 'Content-Type': media }),
      ...headers,
    });
  }

  private async poll(step: Step): Promise<RawAnswer> {
    const { field, equals, status, seconds = DEFAULT_WAIT_SECONDS } = step.until!;
    const deadline = Date.now() + seconds * 1000;
    for (;;) {
      const answer = await this.send(step);
      const isThere =
        status === undefined
          ? JSON.stringify(valueAt(parsed(answer.text), field!) ?? null) === JSON.stringify(equals)
          : answer.status === status;
      // After the deadline the last answer is compared, so that the difference shows the state.
      if (isThere || Date.now() > deadline) return answer;
      await sleep(POLL_MS);
    }
  }

  private filled(text: string): string {
    return text.replace(/\{(\w+)\}/g, (whole, name: string) => this.saved.get(name) ?? whole);
  }
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
