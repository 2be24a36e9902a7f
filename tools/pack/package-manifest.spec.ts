import { packageManifest } from './package-manifest.mjs';

const context = {
  license: 'Apache-2.0',
  versions: { '@headgate/clock': '0.1.0' },
  description: 'The first sentence of the README.',
};

const manifestOf = (fields: object) =>
  packageManifest(
    {
      name: '@headgate/lab',
      folder: 'lab',
      manifest: {
        name: '@headgate/lab',
        version: '0.2.0',
        private: true,
        exports: { '.': './src/lab.ts', './testing': './src/testing/lab.contract.ts' },
        nx: {},
        ...fields,
      },
    },
    context,
  );

describe('the manifest of a packed library', () => {
  test('names the built files of all exports', () => {
    expect(manifestOf({})).toMatchObject({
      exports: {
        '.': {
          import: { types: './dist/lab.d.ts', default: './dist/lab.js' },
          require: { types: './dist/lab.d.cts', default: './dist/lab.js' },
          default: './dist/lab.js',
        },
        './testing': {
          import: { types: './dist/testing/lab.contract.d.ts', default: './dist/testing/lab.contract.js' },
          require: { types: './dist/testing/lab.contract.d.cts', default: './dist/testing/lab.contract.js' },
        },
        './package.json': './package.json',
      },
      main: './dist/lab.js',
      types: './dist/lab.d.ts',
    });
  });

  test('has ranges of versions, and leaves what applications have once to them', () => {
    const dependencies = {
      '@headgate/clock': '*',
      'reflect-metadata': '0.2.2',
      '@nestjs/core': '12.5.1',
      ws: '8.23.0',
    };
    expect(manifestOf({ dependencies })).toMatchObject({
      dependencies: { ws: '^8.23.0' },
      peerDependencies: {
        '@headgate/clock': '^0.1.0',
        'reflect-metadata': '^0.2.2',
        '@nestjs/core': '^11.0.0 || ^12.5.1',
      },
    });
  });

  test('has a program, which brings our libraries along', () => {
    const publishConfig = { access: 'public', bin: { lab: './src/cli/main.ts' } };
    expect(manifestOf({ publishConfig, dependencies: { '@headgate/clock': '*' } })).toMatchObject({
      bin: { lab: './dist/cli/main.js' },
      dependencies: { '@headgate/clock': '^0.1.0' },
    });
  });

  test('has no settings of the workspace, and a description', () => {
    const manifest = manifestOf({});
    for (const own of ['private', 'nx', 'dependencies', 'peerDependencies']) expect(manifest).not.toHaveProperty(own);
    expect(manifest.description).toBe('The first sentence of the README.');
  });

  test('can not name a dependency that is not packed, or a file that is no source', () => {
    expect(() => manifestOf({ dependencies: { '@headgate/testing': '*' } })).toThrow(
      '@headgate/lab depends on @headgate/testing, which is not packed.',
    );
    expect(() => manifestOf({ exports: { '.': './lab.json' } })).toThrow(
      'only TypeScript files below src can be packed',
    );
  });
});
