import { AdmissionChain, denied, type AdmissionRequest } from './admission.js';

const request = (fields: Partial<AdmissionRequest>): AdmissionRequest => ({
  operation: 'CREATE',
  resource: 'machines.lab.dev',
  namespace: 'lab',
  name: 'a',
  object: { apiVersion: 'lab.dev/v1', kind: 'Machine', metadata: { name: 'a' } },
  user: { username: 'admin', groups: [] },
  dryRun: false,
  ...fields,
});

describe('AdmissionChain', () => {
  test('calls the hooks of the resource and operation, and those of subresources only when listed', () => {
    const chain = new AdmissionChain();
    const called: string[] = [];
    const hook = (name: string, subresources?: string[]) => ({
      name,
      resources: ['machines.lab.dev'],
      operations: ['CREATE' as const],
      subresources,
      admit: () => void called.push(name),
    });
    chain.addValidating(hook('main'));
    chain.addValidating(hook('status', ['status']));
    chain.validate(request({}));
    chain.validate(request({ subresource: 'status' }));
    chain.validate(request({ operation: 'DELETE' }));
    chain.validate(request({ resource: 'pods' }));
    expect(called).toEqual(['main', 'status']);
  });
});

describe('denied', () => {
  test('joins the causes in the message of a 422', () => {
    const causes = [
      { reason: 'FieldValueInvalid', message: 'one', field: 'spec.a' },
      { reason: 'FieldValueRequired', message: 'two', field: 'spec.b' },
    ];
    expect(denied('v.lab.dev', { causes }).status).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: 'admission webhook "v.lab.dev" denied the request: one, two',
      details: { causes },
    });
  });

  test('lists the first ten causes and the number of others', () => {
    const causes = Array.from({ length: 12 }, (_, index) => ({ message: `c${index}` }));
    expect(denied('v', { causes }).message).toMatch(/: c0, .*c9, and 2 more validation errors$/);
  });

  test('returns 400 without a reason for a denial without causes', () => {
    const { status } = denied('v', { message: 'not now' });
    expect([status.code, status.reason, status.message]).toEqual([
      400,
      undefined,
      'admission webhook "v" denied the request: not now',
    ]);
    expect(denied('v', {}).message).toBe('admission webhook "v" denied the request without explanation');
  });
});
