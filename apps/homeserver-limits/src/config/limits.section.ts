import { MAX_CAP, WholeNumber } from './fields.js';

export class LimitsSection {
  @WholeNumber(MAX_CAP) filters_per_user = 1_000;
  @WholeNumber(MAX_CAP) account_data_per_user = 20_000;
  @WholeNumber(MAX_CAP) one_time_keys_per_device = 1_000;
  @WholeNumber(MAX_CAP) pushers_per_user = 100;
}
