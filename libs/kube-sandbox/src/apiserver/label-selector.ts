import { badRequest } from './api-error.js';

type Operator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';

interface Requirement {
  key: string;
  operator: Operator;
  values: string[];
}

/** The selector in the spec of objects such as Deployments. */
export interface LabelSelectorObject {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

export type LabelSelector = (labels: Record<string, string> | undefined) => boolean;

const SET_BASED = /^([^\s!=<>]+)\s+(in|notin)\s*\(([^)]*)\)$/;
const COMPARISON = /^([^\s!=<>]+)\s*(==|=|!=|>|<)\s*(\S*)$/;
const KEY = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const OPERATORS: Record<string, Operator> = {
  in: 'In',
  notin: 'NotIn',
  '=': 'In',
  '==': 'In',
  '!=': 'NotIn',
  '>': 'Gt',
  '<': 'Lt',
};

/** Parses `app=web,tier in (a, b),!legacy`. @throws ApiError 400 */
export function parseLabelSelector(text: string): LabelSelector {
  return matcherOf(splitOutsideParentheses(text).map(parseRequirement));
}

/** The matcher for a selector object; an empty selector matches everything. */
export function labelSelectorOf({ matchLabels = {}, matchExpressions = [] }: LabelSelectorObject): LabelSelector {
  return matcherOf([
    ...Object.entries(matchLabels).map(([key, value]): Requirement => ({ key, operator: 'In', values: [value] })),
    ...matchExpressions.map(({ key, operator, values = [] }): Requirement => ({
      key,
      operator: operator as Operator,
      values,
    })),
  ]);
}

function matcherOf(requirements: Requirement[]): LabelSelector {
  return (labels = {}) => requirements.every((requirement) => matches(requirement, labels));
}

function splitOutsideParentheses(text: string): string[] {
  const parts = text.split(/,(?![^(]*\))/).map((part) => part.trim());
  return parts.length === 1 && parts[0] === '' ? [] : parts;
}

function parseRequirement(text: string): Requirement {
  const set = SET_BASED.exec(text);
  const comparison = set ? null : COMPARISON.exec(text);
  const found = set ?? comparison;
  if (found) {
    const [, key = '', operator = '', rest = ''] = found;
    const values = set ? rest.split(',').map((value) => value.trim()) : [rest];
    return { key: checkedKey(key, text), operator: OPERATORS[operator]!, values };
  }
  const negated = text.startsWith('!');
  const key = checkedKey(negated ? text.slice(1).trim() : text, text);
  return { key, operator: negated ? 'DoesNotExist' : 'Exists', values: [] };
}

function checkedKey(key: string, text: string): string {
  if (!KEY.test(key)) throw badRequest(`unable to parse requirement: found '${text}', expected a label key`);
  return key;
}

function matches({ key, operator, values }: Requirement, labels: Record<string, string>): boolean {
  const value = labels[key];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return value !== undefined && Number(value) > Number(values[0]);
    case 'Lt':
      return value !== undefined && Number(value) < Number(values[0]);
  }
}
