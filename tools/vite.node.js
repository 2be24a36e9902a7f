import { defineConfig } from 'vite';

/** Optional peers that Nest, Fastify and ws look for at run time and go on without. */
const absent = [
  '@nestjs/microservices',
  '@nestjs/platform-express',
  '@nestjs/platform-socket.io',
  '@fastify/static',
  '@fastify/view',
  '@fastify/multipart',
  'bufferutil',
  'utf-8-validate',
];

/**
 * The build of a Nest application: dist/main.js with everything in it, which halves start-up time and memory.
 * @param {Record<string, string>} entries further entries, name → source file
 */
export const nodeApp = (entries = {}) =>
  defineConfig({
    // Oxc reads experimentalDecorators and emitDecoratorMetadata from the project's tsconfig.json, through `extends`.
    build: {
      ssr: true,
      outDir: 'dist',
      emptyOutDir: true,
      target: 'node24',
      minify: false,
      sourcemap: false,
      rolldownOptions: {
        input: { main: 'src/main.ts', ...entries },
        output: { entryFileNames: '[name].js', chunkFileNames: '[name].js', keepNames: true },
      },
    },
    ssr: { noExternal: true, external: absent },
  });
