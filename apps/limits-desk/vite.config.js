import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// A test runner that starts the build must get the production build of React too.
process.env.NODE_ENV = 'production';

const SERVED_FILES = ['app.js', 'index.html', 'style.css'];

/** The listener serves exactly these files, and its policy allows no others. */
const exactFiles = {
  name: 'exact-files',
  writeBundle(_options, bundle) {
    const files = Object.keys(bundle).sort();
    if (files.join() !== SERVED_FILES.join())
      this.error(`Expected ${SERVED_FILES.join(', ')}; built ${files.join(', ')}.`);
  },
};

export default defineConfig({
  plugins: [react(), exactFiles],
  base: '/desk/',
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    // The first versions with `light-dark()`, which older targets would replace with something longer.
    cssTarget: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
    modulePreload: false,
    cssCodeSplit: false,
    // The font is a part of the style sheet, because the listener serves only three files.
    assetsInlineLimit: (file) => file.endsWith('.woff2'),
    rolldownOptions: {
      output: { entryFileNames: 'app.js', assetFileNames: '[name][extname]' },
    },
  },
});
