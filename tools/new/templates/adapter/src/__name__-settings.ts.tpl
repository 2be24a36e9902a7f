import { IsNotEmpty, IsOptional, IsString } from 'class-validator';

/** The settings of a context of this kind in the configuration of the service. */
export class __Name__Settings {
  /** The address of the engine. */
  @IsOptional() @IsString() @IsNotEmpty() address?: string;
}
