import { ProxyWarnings } from './proxy-warnings.js';

describe('ProxyWarnings', () => {
  let lines: unknown[];
  let nowMs = 0;
  const open = () => new ProxyWarnings({ warn: (data: unknown) => void lines.push(data) } as never, () => nowMs);
  beforeEach(() => {
    lines = [];
  });

  test.each([['0.0.0.0/0'], ['::/0'], ['10.0.0.0/00']])('warn of %s, which trusts every address', (network) => {
    open().checkTrusted(['127.0.0.1', network]);
    expect(lines).toEqual([{ trusted_proxies: [network] }]);
  });

  test('say nothing of networks', () => {
    open().checkTrusted(['127.0.0.0/8', '::1', '10.0.0.0/10', 'fd00::/8']);
    expect(lines).toEqual([]);
  });

  test('name a peer whose header is ignored, once a minute', () => {
    const warnings = open();
    for (const peer of ['192.0.2.1', '192.0.2.2']) warnings.ignoredHeader(peer);
    nowMs += 60_000;
    warnings.ignoredHeader('192.0.2.3');
    expect(lines).toEqual([{ peer: '192.0.2.1' }, { peer: '192.0.2.3' }]);
  });
});
