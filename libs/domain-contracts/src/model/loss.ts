/** The part of a VM that a copy does not have. */
export const LOSS_CATEGORIES = ['firmware', 'tpm', 'devices', 'media', 'tuning', 'guest', 'placement'] as const;
export type LossCategory = (typeof LOSS_CATEGORIES)[number];

/** `critical`: data that exists nowhere else. `warning`: the guest may notice. `info`: the guest notices nothing. */
export const LOSS_SEVERITIES = ['critical', 'warning', 'info'] as const;
export type LossSeverity = (typeof LOSS_SEVERITIES)[number];

/** A property of a VM that a copy of it does not have. */
export interface Loss {
  /** One sentence, or a noun phrase. */
  readonly what: string;
  readonly category: LossCategory;
  readonly severity: LossSeverity;
}

export const loss = (category: LossCategory, what: string, severity: LossSeverity = 'warning'): Loss => ({
  what,
  category,
  severity,
});
