// The default settings of lameduck's log.
import type { LogSettings } from '../../src/observers/logging.ts';
import { settingsTable } from '../../src/settings/table.ts';

export const usualLog: LogSettings = {
  logLevel: settingsTable.logLevel.default(false),
  logFormat: settingsTable.logFormat.default(false),
};
