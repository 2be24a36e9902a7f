export type LimitOutcome = 'granted' | 'refused' | 'shadow_refused';

/** Told of each decision of a rule, rate or cap. */
export type DecisionWatch = (rule: string, outcome: LimitOutcome) => void;
