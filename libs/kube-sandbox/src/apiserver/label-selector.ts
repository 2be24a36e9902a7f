import { LabelSelectorParser, type Operator, type Requirement } from './label-selector-parser.js';

/** The selector in the spec of objects such as Deployments. */
export interface LabelSelectorObject {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

export type LabelSelector = (labels: Record<string, string> | undefined) => boolean;

/** Parses `app=web,tier in (a, b),!legacy`. @throws ApiError 400 */
export function parseLabelSelector(text: string): LabelSelector {
  return matcherOf(new LabelSelectorParser(text).parse());
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
