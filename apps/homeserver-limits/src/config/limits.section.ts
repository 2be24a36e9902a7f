import { AtLeastOne } from './fields.js';

export class LimitsSection {
  @AtLeastOne() filters_per_user = 1_000;
  @AtLeastOne() account_data_per_user = 20_000;
  @AtLeastOne() one_time_keys_per_device = 1_000;
  @AtLeastOne() pushers_per_user = 100;
}
