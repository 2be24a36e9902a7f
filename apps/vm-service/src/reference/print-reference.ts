import 'reflect-metadata';
import { previewApplication } from './preview-application.js';
import { openapiDocument } from './openapi-document.js';
import { errorCodesPage, metricsPage, operationsPage } from './reference-pages.js';

// Run by tools/docs/generate.mjs: prints the reference pages as one JSON object, file name → text.
const app = await previewApplication();
const pages = {
  'vm-service-openapi.json': `${JSON.stringify(openapiDocument(app, '0.1.0'), null, 2)}\n`,
  'error-codes.md': errorCodesPage(),
  'metrics.md': await metricsPage(),
  'operations.md': operationsPage(),
};
process.stdout.write(JSON.stringify(pages));
await app.close();
