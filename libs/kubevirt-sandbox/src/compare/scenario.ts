import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type JsonObject = Record<string, Json>;

/** One request. `{ns}` and the names of saved values in braces are replaced in `path` and in `body`. */
export interface Step {
  method: string;
  /** `VMS`, `VMIS`, `SUB`, `DVS` and `NS` at the beginning are the usual paths. */
  path: string;
  /** The body; `{ "$use": "vm", … }` is the object of that name with the other fields merged into it. */
  body?: Json;
  /** The media type of the body; `merge`, `json`, `strategic` and `apply` are those of patches. */
  type?: string;
  headers?: Record<string, string>;
  /** Sends the request this many times at the same time, and compares the answers in any order. */
  times?: number;
  /** Sends these requests at the same time instead, and compares the answers in any order. */
  parallel?: Step[];
  /** Repeats a GET until the field has the value (null: absent; `404` for the object itself: `{ "status": 404 }`). */
  until?: { field?: string; equals?: Json; status?: number; seconds?: number };
  /** The fields of the answer's body to compare, as `a.b.0.c`; default: all. `[]`: the status only. */
  only?: string[];
  /** Saves fields of the answer's body under names. */
  save?: Record<string, string>;
}

/** Requests that run one after another in a namespace of their own. */
export interface Scenario {
  name: string;
  /** The API groups without which the scenario is skipped. */
  needs?: string[];
  steps: Step[];
}

export interface ScenarioFile {
  objects?: Record<string, JsonObject>;
  scenarios: Scenario[];
}

/** Reads all scenarios in a folder. Objects are shared by its files. @throws Error that names the file */
export function loadScenarios(folders: readonly string[]): Scenario[] {
  const files = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .sort()
      .map((name) => readFile(join(folder, name))),
  );
  const objects = Object.assign({}, ...files.map((file) => file.objects ?? {})) as Record<string, JsonObject>;
  const scenarios = files.flatMap((file) => file.scenarios);
  const names = scenarios.map(({ name }) => name);
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate !== undefined) throw new Error(`two scenarios have the name "${duplicate}"`);
  return scenarios.map((scenario) => ({ ...scenario, steps: scenario.steps.map((step) => resolved(step, objects)) }));
}

function readFile(path: string): ScenarioFile {
  let file: Partial<ScenarioFile>;
  try {
    file = JSON.parse(readFileSync(path, 'utf8')) as Partial<ScenarioFile>;
  } catch (error) {
    throw new Error(`${path} is no JSON: ${(error as Error).message}`, { cause: error });
  }
  const { objects = {}, scenarios } = file;
  if (!Array.isArray(scenarios)) throw new Error(`${path} has no list "scenarios"`);
  for (const { name, steps } of scenarios) {
    if (!name || !Array.isArray(steps)) throw new Error(`${path}: every scenario needs a "name" and "steps"`);
    const wrong = steps.find((step) => !step.parallel && !(step.method && step.path));
    if (wrong) throw new Error(`${path}: a step of "${name}" has no "method" or no "path"`);
  }
  return { objects, scenarios };
}

function resolved(step: Step, objects: Record<string, JsonObject>): Step {
  return {
    ...step,
    ...(step.body === undefined ? {} : { body: expand(step.body, objects) }),
    ...(step.parallel ? { parallel: step.parallel.map((each) => resolved(each, objects)) } : {}),
  };
}

function expand(value: Json, objects: Record<string, JsonObject>): Json {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item) => expand(item, objects));
  const { $use, ...rest } = value;
  const own = Object.fromEntries(Object.entries(rest).map(([key, field]) => [key, expand(field, objects)]));
  if ($use === undefined) return own;
  const base = objects[String($use)];
  if (!base) throw new Error(`no file has the object "${String($use)}"`);
  return merged(expand(base, objects), own);
}

/** As a JSON merge patch: null removes a field. */
function merged(base: Json, patch: Json): Json {
  if (!isObject(base) || !isObject(patch)) return patch;
  const result = { ...base };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key] ?? null, value);
  }
  return result;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
