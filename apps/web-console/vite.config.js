import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { consolePart } from './build/console-part.js';
import { dropCssAssets } from './build/drop-css-assets.js';
import { dropUnusedProperties } from './build/drop-unused-properties.js';
import { spareSiblings } from './build/spare-siblings.js';

// Whoever builds, a test runner too, gets what is served: React's development build is larger and slower.
process.env.NODE_ENV = 'production';

const SERVED = ['index.html', 'app.js', 'screen-libraries.js', 'style.css', 'icons.js'];

/** The service serves these and no other, so one more is a broken build. */
const nothingElse = {
  name: 'nothing-else',
  writeBundle(_options, bundle) {
    const files = Object.keys(bundle).sort();
    if (files.join() !== [...SERVED].sort().join())
      this.error(`Expected ${SERVED.join(', ')}; built ${files.join(', ')}.`);
  },
};

export default defineConfig({
  plugins: [dropCssAssets, react(), dropUnusedProperties, spareSiblings, consolePart, nothingElse],
  base: './',
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 2000,
    rolldownOptions: {
      output: {
        entryFileNames: 'app.js',
        chunkFileNames: '[name].js',
        assetFileNames: (asset) =>
          asset.names.some((name) => name.endsWith('.css')) ? 'style.css' : 'unexpected/[name][extname]',
        // icons.ts holds only data: a group with imports of its own would bring a fifth file, the bundler's runtime.
        codeSplitting: {
          groups: [{ name: 'icons', test: /\/icons\.ts$/ }],
        },
      },
    },
  },
});
