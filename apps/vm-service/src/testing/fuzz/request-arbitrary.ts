import fc from 'fast-check';

/** A JSON schema as the API document has it, as far as the generator reads it. */
export interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Record<string, Schema>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: Schema;
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: Schema }> };
}

export interface ApiDocument {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, Schema> };
}

export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  /** The body as it is sent; undefined for none. */
  readonly body: string | undefined;
  readonly headers: Record<string, string>;
}

/** Texts that programs read in more than one way. */
const ODD_TEXTS = [
  '',
  ' ',
  '.',
  '..',
  '../../etc/passwd',
  '..%2f..%2fetc',
  '%',
  '%00',
  '%252f',
  '\u0000',
  'a\nb',
  '\ud800',
  '\u202e',
  'é'.normalize('NFD'),
  '__proto__',
  'constructor',
  'toString',
  'null',
  'true',
  'NaN',
  '-1',
  '1e309',
  '0x10',
  '-rf',
  '--help',
  '$(reboot)',
  '<script>alert(1)</script>',
  "'; DROP TABLE task; --",
  'a'.repeat(64),
  'a'.repeat(5000),
];

const ODD_VALUES = [null, true, 0, -1, 1.5, 2 ** 53, 1e308, [], {}, [null], { a: { b: [] } }, '', 'x'];

/** Names that mean something to the service of the tests, so that many requests get past validation. */
export interface KnownNames {
  readonly namespaces: readonly string[];
  readonly names: readonly string[];
  readonly contexts: readonly string[];
  readonly refs: readonly string[];
  readonly actions: readonly string[];
}

const oddText = fc.oneof(fc.constantFrom(...ODD_TEXTS), fc.string({ unit: 'binary', maxLength: 40 }), fc.string());

/** Requests for every operation of the API document: mostly well formed, with odd values anywhere. */
export function requestArbitrary(document: ApiDocument, known: KnownNames): fc.Arbitrary<FuzzRequest> {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationArbitrary(method, path, operation)),
  );
  return fc.oneof(...operations);

  function operationArbitrary(method: string, path: string, operation: Operation): fc.Arbitrary<FuzzRequest> {
    const parameters = operation.parameters ?? [];
    const named = (place: string): fc.Arbitrary<Record<string, string | undefined>> =>
      fc.record(
        Object.fromEntries(
          parameters
            .filter((parameter) => parameter.in === place)
            .map(({ name, schema = {} }) => [
              name,
              place === 'path' ? text(name, schema) : fc.option(text(name, schema), { nil: undefined }),
            ]),
        ),
      );
    const schema = operation.requestBody?.content['application/json']?.schema;
    return fc
      .record({
        inPath: named('path'),
        query: named('query'),
        extraQuery: fc.option(fc.tuple(oddText, oddText), { nil: undefined, freq: 12 }),
        body: schema ? bodyArbitrary(schema) : fc.option(fc.json(), { nil: undefined, freq: 12 }),
        headers: headersArbitrary,
      })
      .map(({ inPath, query, extraQuery, body, headers }) => {
        const pairs = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined);
        if (extraQuery) pairs.push(extraQuery);
        const search = pairs.map(([key, value]) => `${encode(key)}=${encode(value)}`).join('&');
        const filled = path.replace(/\{(\w+)\}/g, (_match, name: string) => encode(inPath[name] ?? ''));
        return {
          method: method.toUpperCase(),
          path: search === '' ? filled : `${filled}?${search}`,
          body,
          headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
        };
      });
  }

  function bodyArbitrary(schema: Schema): fc.Arbitrary<string | undefined> {
    const wellFormed = value('', schema, 0).map((body) => JSON.stringify(body));
    return fc.oneof(
      { weight: 12, arbitrary: wellFormed },
      { weight: 2, arbitrary: fc.json() },
      {
        weight: 1,
        arbitrary: fc.constantFrom(undefined, '', '{', '[]', 'null', '"', '{"a":1,"a":2}', '[['.repeat(200)),
      },
      { weight: 1, arbitrary: oddText },
    );
  }

  /** A value for a field of this name, mostly valid. */
  function value(name: string, schema: Schema, depth: number): fc.Arbitrary<unknown> {
    const resolved = schema.$ref ? (document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema;
    const odd = fc.oneof(fc.constantFrom<unknown[]>(...ODD_VALUES), oddText, fc.jsonValue({ maxDepth: 3 }));
    return fc.oneof({ weight: 9, arbitrary: valid(name, resolved, depth) }, { weight: 1, arbitrary: odd });
  }

  function valid(name: string, schema: Schema, depth: number): fc.Arbitrary<unknown> {
    if (schema.enum) return fc.constantFrom(...schema.enum);
    if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => value(name, one, depth)));
    switch (schema.type) {
      case 'null':
        return fc.constant(null);
      case 'boolean':
        return fc.boolean();
      case 'integer':
      case 'number':
        return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 1000 });
      case 'array':
        return fc.array(value(name, schema.items ?? {}, depth + 1), { maxLength: 3 });
      case 'object': {
        if (depth > 3) return fc.constant({});
        const fields = Object.entries(schema.properties ?? {});
        const required = (schema.required ?? []).filter((field) => field in (schema.properties ?? {}));
        return fc
          .tuple(
            fc.record(Object.fromEntries(fields.map(([field, inner]) => [field, value(field, inner, depth + 1)])), {
              requiredKeys: required,
            }),
            fc.option(fc.tuple(oddText, fc.jsonValue()), { nil: undefined, freq: 15 }),
          )
          .map(([object, extra]) => (extra ? { ...object, [extra[0]]: extra[1] } : object));
      }
      default:
        return text(name, schema);
    }
  }

  function text(name: string, { enum: choices, examples = [] }: Schema): fc.Arbitrary<string> {
    const likely = [...(choices ?? []), ...examples, ...meaningful(name)].filter((one) => typeof one === 'string');
    if (likely.length === 0) return oddText;
    return fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...likely) }, { weight: 1, arbitrary: oddText });
  }

  function meaningful(name: string): readonly string[] {
    switch (name) {
      case 'ns':
      case 'namespace':
        return known.namespaces;
      case 'name':
      case 'image':
      case 'snap':
      case 'target':
        return known.names;
      case 'context':
        return known.contexts;
      case 'ref':
        return known.refs;
      case 'action':
        return known.actions;
      case 'dryRun':
      case 'force':
      case 'summary':
        return ['true', 'false'];
      default:
        return [];
    }
  }
}

const headersArbitrary: fc.Arbitrary<Record<string, string>> = fc.oneof(
  { weight: 20, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Record<string, string>[]>(
      { accept: 'application/xml' },
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/json; charset=utf-16' },
      { 'if-none-match': '*' },
      { origin: 'https://evil.example' },
      { host: 'evil.example' },
      { 'tailscale-user-login': 'ann', 'x-forwarded-for': '1.2.3.4' },
      { expect: 'something' },
    ),
  },
);

/** Percent-encodes any text; a lone surrogate becomes the replacement character, as in browsers. */
const encode = (text: string): string => encodeURIComponent(text.toWellFormed());
