import { chooseServer } from './choose-server.js';

const config = {
  current: 'prod',
  contexts: {
    prod: { server: 'https://prod.example.org', token: 'hgt_prod' },
    lab: { server: 'http://lab.example.org', token: 'hgt_lab', insecureHttp: true },
    clear: { server: 'http://clear.example.org', token: 'hgt_clear' },
  },
};
const choose = (options: object, env: Record<string, string> = {}, from: object = config) => {
  const { access, notes } = chooseServer(options, env, from as typeof config);
  return { server: access.url.href, token: access.token, notes };
};

describe('chooseServer', () => {
  test('uses the current context, and another one by its name', () => {
    expect(choose({})).toMatchObject({ server: 'https://prod.example.org/', token: 'hgt_prod' });
    expect(choose({ context: 'lab' })).toMatchObject({ server: 'http://lab.example.org/', token: 'hgt_lab' });
  });

  test('uses the service of this machine if nothing is chosen', () => {
    expect(choose({}, {}, { contexts: {} })).toEqual({ server: 'http://127.0.0.1:8006/', token: undefined, notes: [] });
  });

  test('prefers the command line to the environment, and both to the current context', () => {
    const env = { HEADGATE_SERVER: 'https://env.example.org' };
    expect(choose({}, env).server).toBe('https://env.example.org/');
    expect(choose({ server: 'https://line.example.org' }, env).server).toBe('https://line.example.org/');
    expect(choose({ context: 'prod' }, env).server).toBe('https://prod.example.org/');
  });

  test('never sends the token of a context to another server', () => {
    expect(choose({ server: 'https://evil.example.org' }).token).toBeUndefined();
    expect(choose({}, { HEADGATE_SERVER: 'https://evil.example.org' }).token).toBeUndefined();
  });

  test('sends the token of the environment to the server of the environment or the command line, but to no context', () => {
    const env = { HEADGATE_TOKEN: 'hgt_env' };
    expect(choose({ server: 'https://a.example.org' }, env).token).toBe('hgt_env');
    expect(choose({}, { ...env, HEADGATE_SERVER: 'https://a.example.org' }).token).toBe('hgt_env');
    const chosen = choose({ context: 'prod' }, env);
    expect(chosen.token).toBe('hgt_prod');
    expect(chosen.notes).toEqual(['HEADGATE_TOKEN is not used: the context prod has its own token or none.']);
  });

  test('refuses to send a token in the clear, unless the context or the command line allow it', () => {
    expect(() => choose({ context: 'clear' })).toThrow(/--insecure-http/);
    expect(choose({ context: 'clear', insecureHttp: true }).token).toBe('hgt_clear');
  });

  test.each([
    [{ server: 'https://a', context: 'prod' }, /Use either --server or --context/],
    [{ context: 'none' }, /There is no context "none"\. There are: prod, lab, clear\./],
    [{ context: 'toString' }, /There is no context "toString"/],
    [{ cacert: '/does/not/exist' }, /\/does\/not\/exist can not be read \(ENOENT\)/],
    [{ cacert: '/proc/self/status' }, /must contain certificates in PEM/],
  ])('refuses %j', (options, problem) => {
    expect(() => choose(options)).toThrow(problem);
  });
});
