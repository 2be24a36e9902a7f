import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const PROGRAMS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

/** Starts Chromium without features that connect to other hosts. */
export const openBrowser = () =>
  chromium.launch({
    executablePath: PROGRAMS.find(existsSync) ?? PROGRAMS[0],
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
