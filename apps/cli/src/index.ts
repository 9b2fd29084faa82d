/** The door of the command line. */
export type { Config } from '@sluice/server'
