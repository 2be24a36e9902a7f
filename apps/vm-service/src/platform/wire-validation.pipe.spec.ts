import { BulkDto, InstancePath, ListQuery, PlacementDto } from '@headgate/api-contracts';
import { WireValidationPipe } from './wire-validation.pipe.js';

const pipe = new WireValidationPipe();
const refusal = async (metatype: new () => object, body: object) => {
  const error: unknown = await pipe.transform(body, { type: 'body', metatype }).catch((thrown: unknown) => thrown);
  return error as { code: string; message: string; details: { fields: { field: string; message: string }[] } };
};

describe('a body with problems', () => {
  test('has each of them with its field', async () => {
    const { code, message, details } = await refusal(BulkDto, { action: 'fly', refs: [], speed: 1 });
    expect(code).toBe('INVALID_INPUT');
    expect(details.fields.map(({ field }) => field).sort()).toEqual(['action', 'refs', 'speed']);
    for (const each of details.fields) expect(message).toContain(each.message);
    expect(message).toContain('speed is not a known field.');
  });

  test('names a field of a nested object by its path', async () => {
    const { message, details } = await refusal(BulkDto, { action: 'stop', query: { kind: 'ship', q: 5 } });
    expect(details.fields.map(({ field }) => field).sort()).toEqual(['query.kind', 'query.q']);
    expect(message).toMatch(/query\.kind must be one of/);
    expect(message).not.toContain('is not valid');
  });

  test('names an unknown field of a nested object', async () => {
    const { message } = await refusal(BulkDto, { action: 'stop', query: { q: 'web', regex: true } });
    expect(message).toBe('query.regex is not a known field.');
  });

  test.each([
    ['a nested object', BulkDto, { action: 'stop', query: 'web' }, 'query must be an object.'],
    ['an element of a nested list', PlacementDto, { pinning: { vcpus: [7] } }, 'pinning.vcpus[0] must be an object.'],
  ])('says what %s must be', async (_title, type, body, message) => {
    expect((await refusal(type, body)).message).toBe(message);
  });

  test('names an element of a nested list', async () => {
    const { details } = await refusal(PlacementDto, { pinning: { vcpus: [{ vcpu: 0, cpus: '0' }, { vcpu: -1 }] } });
    expect(details.fields.map(({ field }) => field).sort()).toEqual(['pinning.vcpus[1].cpus', 'pinning.vcpus[1].vcpu']);
  });
});

describe('a query', () => {
  const read = (metatype: new () => object, query: object): Promise<unknown> =>
    pipe.transform(query, { type: 'query', metatype });

  test('without parameters is a new object for each request', async () => {
    const first = (await read(ListQuery, {})) as ListQuery;
    first.q = 'status:running';
    const second = await read(ListQuery, {});
    expect(second).toBeInstanceOf(ListQuery);
    expect(second).toEqual(new ListQuery());
  });

  test('is refused each time while a required parameter is missing', async () => {
    for (let round = 0; round < 3; round++)
      await expect(read(InstancePath, {})).rejects.toMatchObject({ code: 'INVALID_NAME' });
  });

  test('is validated after one without parameters, and loses unknown ones', async () => {
    await read(ListQuery, {});
    await expect(read(ListQuery, { sort: 'colors' })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    expect(await read(ListQuery, { q: 'web', color: 'red' })).toEqual(Object.assign(new ListQuery(), { q: 'web' }));
  });
});
