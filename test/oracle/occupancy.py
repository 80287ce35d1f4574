"""Theoretical occupancy, as NVIDIA's occupancy calculator has it: blocks of a launch that fit a multiprocessor by warps, block slots,
registers and shared memory.  The limits are those of the CUDA programming guide, table "technical specifications per compute capability"."""

# compute capability -> warps, blocks of a multiprocessor, shared memory of it in KiB
LIMITS = {
    (3, 5): (64, 16, 48), (3, 7): (64, 16, 112), (5, 0): (64, 32, 64), (5, 2): (64, 32, 96), (5, 3): (64, 32, 64),
    (6, 0): (64, 32, 64), (6, 1): (64, 32, 96), (6, 2): (128, 32, 64), (7, 0): (64, 32, 96), (7, 2): (64, 32, 96),
    (7, 5): (32, 16, 64), (8, 0): (64, 32, 164), (8, 6): (48, 16, 100), (8, 7): (48, 16, 164), (8, 9): (48, 24, 100),
    (9, 0): (64, 32, 228), (10, 0): (64, 32, 228), (12, 0): (48, 24, 100),
}
WORDS = ("warps", "blocks", "registers", "shared memory")


def up(value, unit):
    return -(-value // unit) * unit


def occupancy(block, registers, shared, capability, regs_sm, shared_sm):
    """(blocks of a multiprocessor, share of its warps in percent as (part, whole), what limits).  None: not known."""
    if capability not in LIMITS or not block or not regs_sm:
        return None
    threads = block[0] * block[1] * block[2]
    most_warps, most_blocks, _ = LIMITS[capability]
    warps = up(threads, 32) // 32
    if not warps:
        return None
    by = [most_warps // warps, most_blocks, None, None]
    if registers:
        of_warp = up(registers * 32, 256)
        by[2] = regs_sm // 4 // of_warp * 4 // warps
        if of_warp * up(warps, 4) > min(regs_sm, 65536):
            by[2] = 0
    kept = 1024 if capability[0] >= 8 else 0
    of_block = up(shared + kept, 128 if capability[0] >= 8 else 256)
    if of_block:
        by[3] = shared_sm // of_block
    blocks = min(b for b in by if b is not None)
    return blocks, (blocks * warps, most_warps), [word for word, b in zip(WORDS, by) if b == blocks]


def of_row(row, device):
    """Of a kernel on a device of a file's deviceProperties."""
    if row.block is None or row.registers is None or not device or "computeMajor" not in device or device.get("warpSize") != 32:
        return None
    capability = device["computeMajor"], device["computeMinor"]
    shared_sm = device.get("sharedMemPerMultiprocessor") or (LIMITS[capability][2] << 10 if capability in LIMITS else 0)
    return occupancy(row.block, row.registers, row.shared + row.static, capability, device.get("regsPerMultiprocessor") or 65536, shared_sm)
