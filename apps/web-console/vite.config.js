import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { compressFiles } from './build/compress-files.js';
import { consolePart } from './build/console-part.js';
import { catalogs, texts } from './build/texts-plugin.js';
import { styleRules } from './build/style-rules.js';

// A test runner that starts the build must get the production build of React too.
process.env.NODE_ENV = 'production';

const SERVED_FILES = ['index.html', 'app.js', 'screen-libraries.js', 'style.css', 'icons.js', 'de.json'];

/** The service serves exactly these files, so any other file is a broken build. */
const exactFiles = {
  name: 'exact-files',
  writeBundle(_options, bundle) {
    const files = Object.keys(bundle).sort();
    if (files.join() !== [...SERVED_FILES].sort().join())
      this.error(`Expected ${SERVED_FILES.join(', ')}; built ${files.join(', ')}.`);
  },
};

export default defineConfig({
  plugins: [texts, catalogs, react(), styleRules, consolePart, exactFiles, compressFiles],
  base: './',
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    // The first versions with `light-dark()`, which older targets would replace with something longer.
    cssTarget: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
    modulePreload: false,
    cssCodeSplit: false,
    // The font is a part of the style sheet, because the service serves only four paths.
    assetsInlineLimit: (file) => file.endsWith('.woff2'),
    chunkSizeWarningLimit: 2000,
    rolldownOptions: {
      output: {
        entryFileNames: 'app.js',
        chunkFileNames: '[name].js',
        assetFileNames: (asset) =>
          asset.names.some((name) => name.endsWith('.css')) ? 'style.css' : 'unexpected/[name][extname]',
        // icons.ts contains only data. A group with imports of its own would need a fifth file, the bundler's runtime.
        codeSplitting: {
          groups: [{ name: 'icons', test: /\/icons\.ts$/ }],
        },
      },
    },
  },
});
