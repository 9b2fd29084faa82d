/** The door of the command line. */
export { main } from './main.ts'
