// Lints the API document with the rules of Redocly and of Spectral. Both are used as libraries: neither reads from the
// network nor reports its use.
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectral from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';

/** A console or a port upgrades to a WebSocket, so its only success is 101. The way to a login provider and back is 303. */
const WITHOUT_SUCCESS = /api(~1|\/)(vnc|tty)(~1|\/)\{ns\}|ports(~1|\/)\{port\}|login(~1|\/)providers(~1|\/)\{id\}/;
const NEEDS_SUCCESS = new Set(['operation-2xx-response', 'operation-success-response']);

/**
 * @param {string} text the document, as JSON
 * @returns {Promise<string[]>} one line for each problem, warnings too
 */
export async function lintDocument(text) {
  const problems = [...(await redoclyProblems(text)), ...(await spectralProblems(text))];
  return problems
    .filter(({ rule, place }) => !(NEEDS_SUCCESS.has(rule) && WITHOUT_SUCCESS.test(place)))
    .map(({ linter, rule, place, message }) => `${linter} ${rule} at ${place}: ${message}`);
}

/** @param {string} text */
async function redoclyProblems(text) {
  const config = await createConfig({ extends: ['recommended'] });
  const found = await lintFromString({ source: text, config, absoluteRef: '/openapi.json' });
  return found.map(({ ruleId, message, location: [place] }) => ({
    linter: 'redocly',
    rule: ruleId,
    place: place?.pointer ?? '',
    message,
  }));
}

/** @param {string} text */
async function spectralProblems(text) {
  const linter = new spectral.Spectral();
  linter.setRuleset({ extends: [[rulesets.oas, 'recommended']] });
  const found = await linter.run(JSON.parse(text));
  return found.map(({ code, message, path }) => ({
    linter: 'spectral',
    rule: String(code),
    place: path.join('/'),
    message,
  }));
}
