/**
 * The heavy part of example 08. It runs in a process of its own, so it may block: no handler waits behind it.
 */
export default function countPrimes({ below }: { below: number }): number {
  const composite = new Uint8Array(below)
  let count = 0
  for (let n = 2; n < below; n++) {
    if (composite[n]) continue
    count++
    for (let multiple = n * n; multiple < below; multiple += n) composite[multiple] = 1
  }
  return count
}
