import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { parse } from 'yaml';
import { definitionGaps, type Schema } from './testing/definition-gaps.contract.js';

const ROOT = join(import.meta.dirname, '../../../..');
const FOLDER = join(ROOT, 'deploy/vm-service/crds');
const SPECS = join(import.meta.dirname, 'testing/stored-specs.contract.ts');

interface Definition {
  readonly spec: {
    readonly names: { readonly plural: string };
    readonly versions: readonly [{ readonly schema: { readonly openAPIV3Schema: Schema } }];
  };
}

const definitions = new Map(
  readdirSync(FOLDER)
    .filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml')
    .map((name) => parse(readFileSync(join(FOLDER, name), 'utf8')) as Definition)
    .map(({ spec }) => [spec.names.plural, spec.versions[0].schema.openAPIV3Schema.properties?.spec ?? {}]),
);

describe('the definitions of custom resources', () => {
  let checker: ts.TypeChecker;
  let specs: ReadonlyMap<string, ts.Type>;

  beforeAll(() => {
    ({ checker, types: specs } = readTypes(SPECS, 'StoredSpecs'));
  }, 60_000);

  test('exist for each kind of objects that the service stores', () => {
    expect([...definitions.keys()].sort()).toEqual([...specs.keys()].sort());
  });

  test.each([...definitions.keys()])('%s has the fields that are written, with their types', (plural) => {
    const type = specs.get(plural);
    expect(type && definitionGaps(checker, type, definitions.get(plural) ?? {}, 'spec')).toEqual([]);
  });

  test.each([...definitions.keys()])('%s would drop each field that is taken out of it', (plural) => {
    const schema = definitions.get(plural) ?? {};
    const paths = fieldPaths(schema, 'spec');
    expect(paths.length).toBeGreaterThan(2);
    for (const path of paths) {
      const gaps = definitionGaps(checker, specs.get(plural) as ts.Type, without(schema, path, 'spec'), 'spec');
      expect(gaps).toEqual([`${path} is written, but the definition drops it.`]);
    }
  });

  test.each([
    [
      'an enum without a value',
      { enum: ['skip'] },
      'spec.schedule.missed may be once, but the definition refuses that.',
    ],
    ['another type', { type: 'integer' }, 'spec.schedule.missed is of another type than in the definition.'],
    [
      'an object',
      { type: 'object', enum: undefined },
      'spec.schedule.missed is of another type than in the definition.',
    ],
  ])('report %s', (_title, change, gap) => {
    const schema = structuredClone(definitions.get('serviceschedules')) as MutableSchema;
    Object.assign(schema.properties.schedule?.properties.missed as object, change);
    expect(definitionGaps(checker, specs.get('serviceschedules') as ts.Type, schema, 'spec')).toEqual([gap]);
  });

  test('report required fields that may be missing, unknown ones, and null', () => {
    const schema = structuredClone(definitions.get('servicetokens')) as MutableSchema;
    const token = schema.properties.token as MutableSchema;
    token.required.push('agent');
    token.properties.note = { type: 'string' } as MutableSchema;
    delete token.properties.lastUsedAt?.nullable;
    expect(definitionGaps(checker, specs.get('servicetokens') as ts.Type, schema, 'spec').sort()).toEqual([
      'spec.token.agent may be missing, but the definition requires it.',
      'spec.token.lastUsedAt may be null, but the definition refuses that.',
      'spec.token.note is in the definition, but never written.',
    ]);
  });
});

interface MutableSchema {
  type?: string;
  nullable?: boolean;
  required: string[];
  properties: Record<string, MutableSchema>;
  items?: MutableSchema;
}

/** The fields that the API server would drop if the schema did not name them. */
function fieldPaths(schema: Schema, path: string): string[] {
  const inner = schema.items ? fieldPaths(schema.items, `${path}[]`) : [];
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
  return Object.entries(schema.properties ?? {}).reduce(
    (all, [name, field]) => [...all, ...(isOpen ? [] : [`${path}.${name}`]), ...fieldPaths(field, `${path}.${name}`)],
    inner,
  );
}

/** A copy without one field, which is no longer required either. */
function without(schema: Schema, removed: string, path: string): Schema {
  const kept = Object.entries(schema.properties ?? {}).filter(([name]) => `${path}.${name}` !== removed);
  return {
    ...schema,
    ...(schema.items && { items: without(schema.items, removed, `${path}[]`) }),
    ...(schema.required && { required: schema.required.filter((name) => `${path}.${name}` !== removed) }),
    ...(schema.properties && {
      properties: Object.fromEntries(kept.map(([name, field]) => [name, without(field, removed, `${path}.${name}`)])),
    }),
  };
}

function readTypes(
  file: string,
  name: string,
): { readonly checker: ts.TypeChecker; readonly types: ReadonlyMap<string, ts.Type> } {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.base.json'), (path) => ts.sys.readFile(path)) as {
    config: { compilerOptions: object };
  };
  const { options } = ts.convertCompilerOptionsFromJson({ ...config.compilerOptions, types: ['node'] }, ROOT);
  const program = ts.createProgram([file], options);
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const node = source?.statements.find((one) => ts.isInterfaceDeclaration(one) && one.name.text === name);
  if (!node) throw new Error(`${file} has no interface ${name}.`);
  const fields = checker.getPropertiesOfType(checker.getTypeAtLocation(node));
  return { checker, types: new Map(fields.map((field) => [field.name, checker.getTypeOfSymbol(field)])) };
}
