/**
 * Node ids in GitHub's present form: a prefix that names the type, and a packed list of numbers. They carry the database
 * ids, so any node can be found without an index.
 */
export type NodeKind = 'U' | 'O' | 'R' | 'I' | 'PR' | 'C'
export interface NodeAddress {
  readonly kind: NodeKind
  /** The account or repository, or for what lives in a repository, that repository. */
  readonly id: number
  readonly part?: number | string
}

const shaLength = 40

export function packNodeId({ kind, id, part }: NodeAddress): string {
  const numbers = Buffer.alloc(part === undefined ? 7 : typeof part === 'number' ? 12 : 10)
  numbers[0] = part === undefined ? 0x92 : 0x93
  numbers[2] = 0xce
  numbers.writeUInt32BE(id, 3)
  if (typeof part === 'number') {
    numbers[7] = 0xce
    numbers.writeUInt32BE(part, 8)
  }
  if (typeof part === 'string') {
    numbers[7] = 0xda
    numbers.writeUInt16BE(shaLength, 8)
    return `${kind}_${Buffer.concat([numbers, Buffer.from(part, 'latin1')]).toString('base64url')}`
  }
  return `${kind}_${numbers.toString('base64url')}`
}

export function unpackNodeId(nodeId: string): NodeAddress | undefined {
  const found = /^(U|O|R|I|PR|C)_([\w-]+)$/.exec(nodeId)
  if (!found) return undefined
  const kind = found[1] as NodeKind
  const bytes = Buffer.from(found[2] ?? '', 'base64url')
  if (bytes.length < 7 || bytes[2] !== 0xce) return undefined
  const id = bytes.readUInt32BE(3)
  const address: NodeAddress =
    bytes.length === 12
      ? { kind, id, part: bytes.readUInt32BE(8) }
      : bytes.length === 10 + shaLength
        ? { kind, id, part: bytes.toString('latin1', 10) }
        : { kind, id }
  return packNodeId(address) === nodeId ? address : undefined
}
