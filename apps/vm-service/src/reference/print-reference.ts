import 'reflect-metadata';
import { ModulesContainer } from '@nestjs/core';
import { routesOf } from '../identity/routes.js';
import { previewApplication } from './preview-application.js';
import { openapiDocument } from './openapi-document.js';
import { permissionsPage } from './permissions-page.js';
import { errorCodesPage, metricsPage, operationsPage } from './reference-pages.js';

// Run by tools/docs/generate.mjs: prints the reference pages as one JSON object, file name → text.
const app = await previewApplication();
const pages = {
  'vm-service-openapi.json': `${JSON.stringify(openapiDocument(app, '0.1.0'), null, 2)}\n`,
  'error-codes.md': errorCodesPage(),
  'metrics.md': await metricsPage(),
  'operations.md': operationsPage(),
  'permissions.md': permissionsPage(routesOf(app.get(ModulesContainer))),
};
process.stdout.write(JSON.stringify(pages));
await app.close();
