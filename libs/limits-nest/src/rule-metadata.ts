export const RATE_RULES = Symbol('RATE_RULES');
export const CAP_RULE = Symbol('CAP_RULE');
