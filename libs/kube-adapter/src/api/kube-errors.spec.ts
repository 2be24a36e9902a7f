import { errorOfResponse, errorOfTransport } from './kube-errors.js';

const request = { context: 'prod', method: 'POST', path: '/apis/kubevirt.io/v1/namespaces/lab/virtualmachines' };
const status = (code: number, reason: string, message: string, details?: object): string =>
  JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, details });

describe('errorOfResponse', () => {
  test.each<[string, number, string, string, RegExp]>([
    [
      'a webhook by rule',
      422,
      status(422, 'Invalid', 'admission webhook "virtualmachine-validator.kubevirt.io" denied the request: no'),
      'REJECTED_BY_BACKEND',
      /denied the request: no/,
    ],
    [
      'a webhook with 400',
      400,
      status(400, '', 'admission webhook "m.kubevirt.io" denied the request: Cannot migrate'),
      'REJECTED_BY_BACKEND',
      /Cannot migrate/,
    ],
    [
      'a webhook with 403',
      403,
      status(403, 'Forbidden', 'admission webhook "p" denied the request: policy'),
      'REJECTED_BY_BACKEND',
      /policy/,
    ],
    [
      'the schema',
      422,
      status(422, 'Invalid', 'VirtualMachine.kubevirt.io "X" is invalid: spec.template: Required value'),
      'REJECTED_BY_BACKEND',
      /spec\.template/,
    ],
    [
      'a quota',
      403,
      status(403, 'Forbidden', 'pods "x" is forbidden: exceeded quota: q'),
      'REJECTED_BY_BACKEND',
      /exceeded quota/,
    ],
    [
      'Pod Security',
      403,
      status(403, 'Forbidden', 'pods "x" is forbidden: violates PodSecurity "baseline:latest": privileged'),
      'REJECTED_BY_BACKEND',
      /PodSecurity/,
    ],
    [
      'a namespace that is being deleted',
      403,
      status(
        403,
        'Forbidden',
        'x is forbidden: unable to create new content in namespace ns because it is being terminated',
      ),
      'BUSY',
      /terminated/,
    ],
    [
      'an expired token',
      401,
      status(401, 'Unauthorized', 'Unauthorized'),
      'BACKEND_FORBIDDEN',
      /prod.*token has expired/,
    ],
    [
      'a taken name',
      409,
      status(409, 'AlreadyExists', 'virtualmachines.kubevirt.io "x" already exists'),
      'ALREADY_EXISTS',
      /already exists/,
    ],
    [
      'a name whose object is being deleted',
      409,
      status(409, 'AlreadyExists', 'object is being deleted: pods "x" already exists'),
      'BUSY',
      /being deleted/,
    ],
    [
      'a concurrent change',
      409,
      status(
        409,
        'Conflict',
        'Operation cannot be fulfilled on virtualmachines.kubevirt.io "x": the object has been modified; please apply your changes to the latest version and try again',
      ),
      'CONFLICT',
      /modified/,
    ],
    [
      'a wrong state',
      409,
      status(409, 'Conflict', 'Operation cannot be fulfilled on virtualmachine.kubevirt.io "x": VM is not running'),
      'WRONG_STATE',
      /^VM is not running$/,
    ],
    [
      'a missing VM',
      404,
      status(404, 'NotFound', 'virtualmachines.kubevirt.io "x" not found', { kind: 'virtualmachines' }),
      'INSTANCE_NOT_FOUND',
      /"x" not found/,
    ],
    [
      'a missing VM, reported by virt-api',
      404,
      status(404, 'NotFound', 'virtualmachine.kubevirt.io "x" not found'),
      'INSTANCE_NOT_FOUND',
      /"x" not found/,
    ],
    ['a missing node', 404, status(404, 'NotFound', 'nodes "n" not found', { kind: 'nodes' }), 'NODE_NOT_FOUND', /"n"/],
    [
      'a missing namespace',
      404,
      status(404, 'NotFound', 'namespaces "lab" not found', { kind: 'namespaces' }),
      'REJECTED_BY_BACKEND',
      /create the namespace/,
    ],
    ['an API that is not served', 404, '404 page not found\n', 'NOT_SUPPORTED', /kubevirt\.io\/v1.*KubeVirt/],
    [
      'a webhook that is down',
      500,
      status(500, 'InternalError', 'Internal error occurred: failed calling webhook "x"'),
      'BACKEND_FAILED',
      /failed calling webhook/,
    ],
    ['an overloaded server', 429, status(429, 'TooManyRequests', 'slow down'), 'BUSY', /overloaded/],
    [
      'a load balancer without a healthy server',
      503,
      'no healthy upstream',
      'BACKEND_UNREACHABLE',
      /no healthy upstream/,
    ],
    [
      'a request that timed out in the server',
      504,
      status(504, 'Timeout', 'Timeout: request did not complete'),
      'BACKEND_TIMEOUT',
      /Timeout/,
    ],
  ])('translates the error response of %s', (_origin, code, body, expected, message) => {
    const error = errorOfResponse(request, code, body);
    expect(error.code).toBe(expected);
    expect(error.message).toMatch(message);
    expect(error.response.status).toBe(code);
  });

  test('names the account, the verb and the resource of a forbidden request', () => {
    const text =
      'virtualmachines.kubevirt.io is forbidden: User "u" cannot list resource "virtualmachines" in API group "kubevirt.io" at the cluster scope';
    expect(errorOfResponse(request, 403, status(403, 'Forbidden', text))).toMatchObject({
      code: 'BACKEND_FORBIDDEN',
      message: 'prod does not let u list virtualmachines.kubevirt.io at the cluster scope: grant it that verb.',
    });
  });

  test('does not take an unavailable aggregated API for an unavailable server', () => {
    const path = '/apis/subresources.kubevirt.io/v1/namespaces/lab/virtualmachines/web/start';
    expect(errorOfResponse({ ...request, path }, 503, 'service unavailable\n').code).toBe('BACKEND_FAILED');
  });
});

describe('errorOfTransport', () => {
  test('explains a failed connection', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
    expect(errorOfTransport(request, '127.0.0.1:1', refused)).toMatchObject({
      code: 'BACKEND_UNREACHABLE',
      message: "The API server of prod at 127.0.0.1:1 can't be reached: the connection is refused.",
    });
  });
});
