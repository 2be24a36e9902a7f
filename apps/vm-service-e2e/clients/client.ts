// Compiled with a client that was generated from the API document: lists the VMs, starts two, and reads the task of the
// second.
import createClient from 'openapi-fetch';
import type { components, paths } from './api.js';

const [baseUrl = ''] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl });

/** The data of a response, or an error with the code that the document lists. */
function expectData<T>({ data, error }: { data?: T; error?: components['schemas']['ErrorView'] }): T {
  if (data === undefined) throw new Error(`${error?.code}: ${error?.error}`);
  return data;
}

const listed = await client.GET('/api/vms', { params: { query: { limit: 100, sort: 'name' } } });
const vms: components['schemas']['VmView'][] = expectData(listed);
const [first, second] = vms.filter(({ status, isTemplate }) => status === 'Stopped' && !isTemplate);
if (!first || !second) throw new Error('There are no two stopped VMs.');

const started = await client.POST('/api/vms/{ns}/{name}/{action}', {
  params: { path: { ns: first.namespace, name: first.name, action: 'start' }, query: { context: first.context } },
});
const outcome = expectData(started);

const accepted = expectData(await client.POST('/api/ext/bulk', { body: { action: 'start', refs: [second.ref] } }));
if (!('task' in accepted)) throw new Error('The response is a plan.');
const readTask = async () =>
  expectData(await client.GET('/api/tasks/{id}', { params: { path: { id: accepted.task } } }));
let task = await readTask();
while (task.status === 'running') task = await readTask();

const missing = await client.GET('/api/tasks/{id}', { params: { path: { id: 'none' } } });
const result = {
  vms: vms.length,
  started: first.ref,
  outcome: 'status' in outcome ? outcome.status : 'plan',
  task: task.status,
  member: task.members?.[0]?.ref,
  expected: second.ref,
  code: missing.error?.code,
};
process.stdout.write(JSON.stringify(result));
