import 'reflect-metadata';
import { join } from 'node:path';
import { ModulesContainer } from '@nestjs/core';
import { routesOf } from '../identity/routes.js';
import { permissionsPage } from './permissions-page.js';
import { previewApplication } from './preview-application.js';
import { SERVICE_VERSION } from '../platform/service-version.js';
import { publishDocument } from './publish-document.js';
import { readDescriptions } from './read-descriptions.js';
import { errorCodesPage, metricsPage, operationsPage } from './reference-pages.js';

// Run by tools/docs/generate.mjs: prints the reference pages as one JSON object, file name → text.
const app = await previewApplication();
// The working folder is that of the repository.
const descriptions = readDescriptions(join(process.cwd(), 'libs/api-contracts/src'));
const pages = {
  'vm-service-openapi.json': `${JSON.stringify(publishDocument(app, SERVICE_VERSION, descriptions), null, 2)}\n`,
  'error-codes.md': errorCodesPage(),
  'metrics.md': await metricsPage(),
  'operations.md': operationsPage(),
  'permissions.md': permissionsPage(routesOf(app.get(ModulesContainer))),
};
process.stdout.write(JSON.stringify(pages));
await app.close();
