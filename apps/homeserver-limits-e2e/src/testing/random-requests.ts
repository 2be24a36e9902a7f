/**
 * The same random requests for the same seed: requests of clients and servers, with everything that can be wrong about
 * them.
 */
export class RandomRequests {
  constructor(private seed: number) {}

  /** The bytes that one connection sends: up to four requests, of which the last one may be cut. */
  connection(): { bytes: Buffer; requests: number } {
    const count = this.below(4) + 1;
    const bytes = Buffer.concat(Array.from({ length: count }, () => this.request()));
    return { bytes: this.chance(0.1) ? bytes.subarray(0, this.below(bytes.length) + 1) : bytes, requests: count };
  }

  /** A whole number from 0, less than the limit. */
  below(limit: number): number {
    // xorshift
    this.seed ^= this.seed << 13;
    this.seed ^= this.seed >>> 17;
    this.seed ^= this.seed << 5;
    return Math.abs(this.seed) % limit;
  }

  private chance(probability: number): boolean {
    return this.below(1_000_000) < probability * 1_000_000;
  }

  private one<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!;
  }

  private request(): Buffer {
    const body = this.body();
    const head = [`${this.one(METHODS)} ${this.target()} ${this.chance(0.97) ? 'HTTP/1.1' : this.one(VERSIONS)}`];
    if (this.chance(0.97)) head.push('Host: b.example');
    for (let i = this.below(4); i > 0; i--) head.push(this.header());
    const framed = this.framed(body);
    head.push(...framed.headers);
    const end = this.chance(0.99) ? '\r\n' : '\n';
    return Buffer.concat([Buffer.from(`${head.join(end)}${end}${end}`, 'latin1'), framed.bytes]);
  }

  private target(): string {
    let path = this.one(PATHS).replace(/:\w+/g, () => this.one(SEGMENTS));
    if (this.chance(0.2)) path = this.mutated(path);
    if (this.chance(0.3)) path += `?${this.one(QUERIES)}`;
    return this.chance(0.01) ? this.one(['*', 'http://b.example/', 'b.example:80', '', '//', '/\x80\xff']) : path;
  }

  private mutated(text: string): string {
    const at = this.below(text.length + 1);
    return text.slice(0, at) + this.one(INSERTIONS) + text.slice(at + this.below(2));
  }

  private header(): string {
    return this.chance(0.9) ? this.one(HEADERS) : this.mutated(this.one(HEADERS));
  }

  private body(): Buffer {
    if (this.chance(0.3)) return Buffer.alloc(0);
    let text = this.one(BODIES);
    if (this.chance(0.2)) text = this.mutated(text);
    return this.chance(0.05) ? Buffer.from(text, 'latin1') : Buffer.from(text);
  }

  private framed(body: Buffer): { headers: string[]; bytes: Buffer } {
    const { length } = body;
    if (this.chance(0.75)) return { headers: length > 0 ? [`Content-Length: ${length}`] : [], bytes: body };
    if (this.chance(0.6)) {
      const at = this.below(length + 1);
      const chunks = [body.subarray(0, at), body.subarray(at)].filter((chunk) => chunk.length > 0);
      const bytes = chunks.flatMap((chunk) => [
        Buffer.from(`${chunk.length.toString(16)}\r\n`),
        chunk,
        Buffer.from('\r\n'),
      ]);
      return { headers: ['Transfer-Encoding: chunked'], bytes: Buffer.concat([...bytes, Buffer.from('0\r\n\r\n')]) };
    }
    const wrong = [
      [`Content-Length: ${length + 1 + this.below(50)}`],
      ['Content-Length: -1'],
      ['Content-Length: 1e3'],
      [`Content-Length: ${length}`, `Content-Length: ${length + 1}`],
      [`Content-Length: ${length}`, 'Transfer-Encoding: chunked'],
      ['Transfer-Encoding: gzip, chunked'],
      ['Transfer-Encoding: chunked, chunked'],
      ['Transfer-Encoding : chunked'],
      ['Content-Length: 99999999999999999999'],
      ['Transfer-Encoding: identity'],
    ];
    return { headers: this.one(wrong), bytes: body };
  }
}

const METHODS = [
  ...Array<string>(6).fill('GET'),
  ...Array<string>(8).fill('POST'),
  ...Array<string>(8).fill('PUT'),
  ...['DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'get', 'CONNECT', 'TRACE', 'PROPFIND', 'X', 'G ET'],
];
const VERSIONS = ['HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0', 'HTTP/0.9', 'HTTP', '', 'http/1.1'];
const PATHS = [
  '/_matrix/client/v3/login',
  '/_matrix/client/v3/register',
  '/_matrix/client/v3/sync',
  '/_matrix/client/v3/createRoom',
  '/_matrix/client/v3/join/:room',
  '/_matrix/client/v3/rooms/:room/invite',
  '/_matrix/client/v3/rooms/:room/send/:type/:txn',
  '/_matrix/client/v3/rooms/:room/state/:type/:key',
  '/_matrix/client/v3/rooms/:room/delayed_event/:type/:txn',
  '/_matrix/client/unstable/org.matrix.msc4140/delayed_events/:id/:action',
  '/_matrix/client/v3/user/:user/openid/request_token',
  '/_matrix/client/v3/user/:user/filter',
  '/_matrix/client/v3/user/:user/filter/:id',
  '/_matrix/client/v3/user/:user/account_data/:type',
  '/_matrix/client/v3/user/:user/rooms/:room/account_data/:type',
  '/_matrix/client/v3/keys/upload/:id',
  '/_matrix/client/v3/pushers/set',
  '/_matrix/client/v3/logout',
  '/_matrix/client/v3/devices/:id',
  '/_matrix/client/unstable/org.matrix.msc3814.v1/dehydrated_device',
  '/_matrix/client/v1/media/config',
  '/_matrix/media/v3/upload',
  '/_matrix/media/v3/upload/:server/:id',
  '/_matrix/federation/v1/send/:txn',
  '/_matrix/key/v2/server',
  '/_svc/rtc/media/sfu/get',
  '/.well-known/matrix/client',
  '/:id',
];
const SEGMENTS = [
  '@a:b.example',
  '%40a%3Ab.example',
  '!room:b.example',
  'm.rtc.notification',
  'm.room.member',
  'm.room.message',
  'org.matrix.msc4075.rtc.notification',
  'm.push_rules',
  'restart',
  '1',
  '__proto__',
  'constructor',
  '%00',
  '%',
  '%zz',
  '%F0%9F%98%80',
  '%ED%A0%80',
  '..',
  '..%2f..',
  'a'.repeat(300),
];
const INSERTIONS = [
  ...[
    '/',
    '//',
    '/./',
    '/../',
    '%2f',
    '%2e%2e/',
    '\\',
    ';',
    '%',
    '%0d%0a',
    '%u0041',
    '?',
    '#',
    '&',
    '=',
    '"',
    '{',
    '[',
    ']',
    '}',
    ',',
  ],
  ...[
    ' ',
    '\t',
    '\x00',
    '\x7f',
    '\xff',
    'é',
    '😀',
    ':',
    '-',
    '0',
    '1e999',
    'null',
    '\\ud800',
    '\\u0000',
    'a'.repeat(2000),
  ],
];
const QUERIES = [
  'timeout=0',
  'timeout=-1&timeout=2',
  'org.matrix.msc4140.delay=1000',
  'org.matrix.msc4140.delay=99999999999999999999',
  'org.matrix.msc4140.delay=1&org.matrix.msc4140.delay=2',
  'user_id=@a:b.example&user_id=@c:b.example',
  'access_token=x&access_token=y',
  'access_token=t',
  'filename=%ff%fe',
  'a=b;c=d&&&=%',
  'x'.repeat(3000),
];
const HEADERS = [
  'Authorization: Bearer t',
  'Authorization: Bearer other',
  'Authorization: Basic YTpi',
  'Authorization: X-Matrix origin="c.example",destination="b.example",key="ed25519:1",sig="x"',
  'Authorization: X-Matrix origin=",,,"="',
  'X-Forwarded-For: 192.0.2.1',
  'X-Forwarded-For: 192.0.2.1, unknown, [::1]:9, ,,',
  'Content-Type: application/json',
  'Content-Type: text/plain; charset="\xff"',
  'Content-Encoding: gzip',
  'Accept-Encoding: br',
  'Expect: 100-continue',
  'Expect: 200-nothing',
  'Connection: close',
  'Connection: keep-alive, authorization, content-length',
  'Connection: upgrade\r\nUpgrade: websocket',
  'Upgrade: h2c',
  'Host: c.example',
  'Host: ',
  'X-Long: ' + 'a'.repeat(5000),
  'X-Folded: a\r\n b',
  ': nothing',
  'no colon',
  'Cookie: a=b; a=c',
  'Trailer: Authorization',
  'TE: trailers',
];
const BODIES = [
  '{}',
  '[]',
  'null',
  '"text"',
  '{',
  '\ufeff{}',
  '{"a":1}{"b":2}',
  '{"type":"m.login.password","identifier":{"type":"m.id.user","user":"a"},"password":"x"}',
  '{"type":"m.login.password","user":"a","identifier":{"type":"m.id.user","user":"b"}}',
  '{"type":"m.login.password","identifier":{"type":"m.id.phone","country":"GB","phone":"0770"}}',
  '{"type":{"toString":1},"identifier":[]}',
  '{"username":"a","auth":{"type":"m.login.dummy"}}',
  '{"auth":"x"}',
  '{"room":{"timeline":{"limit":1e400}}}',
  '{"app_id":"a","pushkey":"b","kind":"http"}',
  '{"app_id":1,"pushkey":null,"kind":[]}',
  '{"one_time_keys":{"a:b":"c"},"device_keys":{"user_id":"@a:b.example","device_id":"D"}}',
  '{"one_time_keys":[[[]]],"device_keys":1}',
  '{"delay_ms":1000,"content":{}}',
  '{"delay_ms":"1","content":null}',
  '{"action":"cancel"}',
  '{"membership":"invite","user_id":"@x:c.example"}',
  '{"invite":["@x:c.example",1,{"a":[]}],"invite_3pid":[{"x":null}]}',
  `{"pdus":[${Array(60).fill('{}').join(',')}],"edus":[]}`,
  '{"pdus":[{},[],{"a":"]}"}],"pdus":[]}',
  '{"room":"!r:b.example","openid_token":{"access_token":"x","matrix_server_name":"b.example"},"device_id":"D"}',
  '{"__proto__":{"a":1},"constructor":{"prototype":{}}}',
  '{"a":"\\ud800"}',
  '['.repeat(600),
  `${'{"a":'.repeat(600)}1${'}'.repeat(600)}`,
  'a'.repeat(70_000),
  '\x00\x01\x02',
];
