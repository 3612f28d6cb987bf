HEADINGS = [(1, 0), (0, 1), (-1, 0), (0, -1)]


def start(size):
    global SIZE, at, heading, safe, visited, plan, carries
    SIZE, at, heading, carries = size, (0, 0), 0, False
    safe, visited, plan = {(0, 0)}, set(), []


def beside(square):
    found = [(square[0] + x, square[1] + y) for x, y in HEADINGS]
    return [(x, y) for x, y in found if 0 <= x < SIZE and 0 <= y < SIZE]


def way_to(goals):
    ways = {at: []}
    waiting = [at]
    for square in waiting:
        if square in goals:
            return ways[square]
        for other in beside(square):
            if other in safe and other not in ways:
                ways[other] = [*ways[square], other]
                waiting.append(other)
    return None


def act(percept):
    global at, heading, plan, carries
    visited.add(at)
    if not percept["breeze"] and not percept["stench"]:
        safe.update(beside(at))
    if percept["glitter"] and not carries:
        carries, plan = True, []
        return "grab"
    if carries:
        plan = way_to({(0, 0)})
    else:
        plan = way_to(safe - visited) or way_to({(0, 0)})
    if not plan:
        return "climb"
    step = (plan[0][0] - at[0], plan[0][1] - at[1])
    if HEADINGS[heading] == step:
        at = plan[0]
        return "forward"
    if HEADINGS[(heading + 1) % 4] == step:
        heading = (heading + 1) % 4
        return "left"
    heading = (heading + 3) % 4
    return "right"
