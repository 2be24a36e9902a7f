import type { TaskView, VmView } from '@headgate/api-contracts';
import { until } from './until.js';

export interface Answer<T> {
  readonly status: number;
  readonly body: T;
}

/** A plain HTTP client of the API. */
export class Api {
  constructor(
    readonly url: string,
    private readonly headers: Readonly<Record<string, string>> = {},
  ) {}

  async send<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<Answer<T>> {
    const answer = await fetch(`${this.url}${path}`, {
      method,
      headers: { ...this.headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as T };
  }

  async vm(name: string): Promise<VmView | undefined> {
    const { body } = await this.send<VmView[]>('GET', '/api/vms');
    return body.find((vm) => vm.name === name);
  }

  untilVm(name: string, rule: string, holds: (vm: VmView | undefined) => boolean): Promise<VmView | undefined> {
    return until(`${name} ${rule}`, () => this.vm(name), holds);
  }

  untilTask(id: string): Promise<TaskView> {
    return until(
      `the task ${id} ends`,
      async () => (await this.send<TaskView>('GET', `/api/tasks/${id}`)).body,
      ({ status }) => status !== 'running',
    );
  }
}
