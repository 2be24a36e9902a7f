import { isIP } from 'node:net';
import type { RuleSet } from '@headgate/limit-rules';
import type { Config } from '../config/config.js';
import { isWithin } from '../config/prefix-table.js';
import type { AddressBlock } from './address-blocks.js';

/** A firewall that bans one of these cuts the gateway off from its proxies, its homeserver or its operators. */
const LOOPBACK = ['127.0.0.0/8', '::1/128'];

/**
 * Whether a block may leave the gateway: its rule is in force, refuses by address and has blocks, and its value
 * contains no address of a trusted proxy, of an exempt network or of this machine.
 */
export function mayLeave(config: Config, { rule: name, value }: Pick<AddressBlock, 'rule' | 'value'>): boolean {
  const { ratelimit, rules, server } = config;
  const rule = ratelimit.enabled ? ruleNamed(rules, name) : undefined;
  if (!rule?.block || rule.shadow || rule.by !== 'source' || isIP(value.split('/', 1)[0]!) === 0) return false;
  const kept = [...LOOPBACK, ...server.trusted_proxies, ...rules.exempt.networks, ...rule.exempt.networks];
  return !kept.some((network) => isWithin(value, network) || isWithin(network, value));
}

const ruleNamed = ({ rules }: RuleSet, name: string) => rules.find((one) => one.name === name);
