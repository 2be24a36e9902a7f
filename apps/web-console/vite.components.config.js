import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { catalogs, texts } from './build/texts-plugin.js';

/** The page with all components, which the service does not serve. `dev/components.mjs` builds it. */
export default defineConfig({
  root: 'components',
  base: './',
  plugins: [texts, { name: catalogs.name, load: catalogs.load }, react()],
  build: { target: 'es2022', chunkSizeWarningLimit: 2000 },
});
