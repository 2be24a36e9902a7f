import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { pino } from 'pino';
import { AppModule } from '../app.module.js';
import { parseCommandLine } from '../config/command-line.js';
import { loadSettings } from '../config/load-config.js';

/** The service as a graph of modules without instances: enough to read its routes. Opens nothing. */
export const previewApplication = (): Promise<INestApplication> =>
  NestFactory.create(
    AppModule.forRoot({
      settings: loadSettings(parseCommandLine([]), {}),
      contexts: { backends: [], simulated: new Set(), hasTinyGuest: false, notes: [], close: async () => undefined },
      log: pino({ level: 'silent' }),
      pageDir: '',
    }),
    new FastifyAdapter(),
    { preview: true, abortOnError: false, logger: false },
  );
