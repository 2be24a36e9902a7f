import { IsOptional } from 'class-validator';
import { FilledText, HttpOrigin, OperatorTokens } from './fields.js';
import type { OperatorSection } from './operator.section.js';

/** Who learns which addresses the rules have blocked. */
export class BlocksSection {
  /** The keys of bouncers by their names, with which they read the blocks on the operator's listener. */
  @OperatorTokens() bouncers: Record<string, string> = {};
  /** The origin of CrowdSec's local API, which receives the blocks as alerts with decisions. */
  @IsOptional() @HttpOrigin() crowdsec?: string;
  /** The name of the machine that the local API knows the gateway as. */
  @IsOptional() @FilledText() machine?: string;
  /** The file whose first line is the password of the machine. */
  @IsOptional() @FilledText() password_file?: string;
}

/** Whether blocks leave this gateway. */
export const exportsBlocks = ({ bouncers, crowdsec }: Readonly<BlocksSection>): boolean =>
  crowdsec !== undefined || Object.keys(bouncers).length > 0;

export function blocksProblems(section: Readonly<BlocksSection>, operator: Readonly<OperatorSection>): string[] {
  const { bouncers, crowdsec, machine, password_file } = section;
  const problems: string[] = [];
  const given = [crowdsec, machine, password_file].filter((one) => one !== undefined);
  if (given.length > 0 && given.length < 3)
    problems.push('blocks.crowdsec, blocks.machine and blocks.password_file must be set together');
  if (Object.keys(bouncers).length > 0 && operator.listen === undefined)
    problems.push('blocks.bouncers read on the listener of operators: set operator.listen');
  const tokens = [operator.token, ...Object.values(operator.tokens)];
  for (const [name, key] of Object.entries(bouncers))
    if (tokens.includes(key)) problems.push(`blocks.bouncers.${name} is also the token of an operator`);
  return problems;
}
