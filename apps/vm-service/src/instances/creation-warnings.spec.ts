import 'reflect-metadata';
import { Edge } from '../testing/edge.js';

test('the answer of a creation has the warnings of the backend', async () => {
  const edge = await new Edge().open();
  try {
    const provisioning = edge.lab.require('provisioning');
    const create = provisioning.create.bind(provisioning);
    provisioning.create = async (spec) => ({ ...(await create(spec)), warnings: ['It has no network card.'] });
    const body = { name: 'new', namespace: 'default', context: 'lab', image: 'tiny' };
    const { status, json } = await edge.send('POST', '/api/vms', body);
    expect(status).toBe(201);
    expect(json['warnings']).toEqual(['It has no network card.']);
    provisioning.create = create;
    expect((await edge.send('POST', '/api/vms', { ...body, name: 'next' })).json).not.toHaveProperty('warnings');
  } finally {
    await edge.close();
  }
});
